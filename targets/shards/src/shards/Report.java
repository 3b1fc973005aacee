package shards;

import java.util.List;

/** Report of a host on a round: the loaded shards, and in full those that are not settled. */
record Report(String host, int round, List<Entry> entries) {}
