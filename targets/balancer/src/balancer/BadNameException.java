package balancer;

/** A name is no name of a region. */
final class BadNameException extends Exception {
    BadNameException(String message) {
        super(message);
    }
}
