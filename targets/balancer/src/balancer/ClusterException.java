package balancer;

/** The cluster does not come up. */
final class ClusterException extends Exception {
    ClusterException(String message) {
        super(message);
    }
}
