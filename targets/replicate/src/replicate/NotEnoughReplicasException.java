package replicate;

/** No node has room for a replica. */
final class NotEnoughReplicasException extends Exception {
    NotEnoughReplicasException(String message) {
        super(message);
    }
}
