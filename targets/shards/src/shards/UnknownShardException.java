package shards;

/** A report names a shard that was never placed. */
final class UnknownShardException extends Exception {
    UnknownShardException(String message) {
        super(message);
    }
}
