package shards;

/** No host is left that could take a shard. */
final class NoHostException extends Exception {
    NoHostException(String message) {
        super(message);
    }
}
