package shards;

/** One shard in a report, with the requests that it served since the last one. */
record Entry(int shard, long requests) {
    static Entry of(Shard shard) {
        return new Entry(shard.id(), shard.load());
    }
}
