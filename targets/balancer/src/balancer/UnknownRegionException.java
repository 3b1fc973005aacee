package balancer;

/** Nobody knows where a region is. */
final class UnknownRegionException extends Exception {
    UnknownRegionException(String message) {
        super(message);
    }
}
