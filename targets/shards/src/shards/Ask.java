package shards;

import java.util.List;
import java.util.Set;

/** Question of the manager to a host: it opens these shards, takes those as settled, and reports. */
record Ask(int round, List<Shard> opened, Set<Integer> settled) {}
