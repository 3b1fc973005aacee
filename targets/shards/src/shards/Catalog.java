package shards;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Shards by their numbers, and their hosts. */
final class Catalog {
    private final Map<Integer, Shard> shards = new ConcurrentHashMap<>();
    private final Map<Integer, String> hosts = new ConcurrentHashMap<>();

    void placed(Shard shard, String host) {
        shards.put(shard.id(), shard);
        hosts.put(shard.id(), host);
    }

    Shard find(int id) throws UnknownShardException {
        Shard shard = shards.get(id);
        if (shard == null) {
            throw new UnknownShardException("shard " + id + " was never placed");
        }
        return shard;
    }

    String hostOf(int id) throws CellException {
        String host = hosts.get(id);
        if (host == null) {
            throw new CellException("shard " + id + " has no host");
        }
        return host;
    }
}
