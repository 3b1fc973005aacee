package balancer;

/** A host has let a request wait for too long to start with it. */
final class HostBusyException extends Exception {
    HostBusyException(String message) {
        super(message);
    }
}
