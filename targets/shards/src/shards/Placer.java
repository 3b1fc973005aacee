package shards;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** Chooses a host for each shard: the one with the least load. */
final class Placer {
    private final Catalog catalog;

    Placer(Catalog catalog) {
        this.catalog = catalog;
    }

    /** Gives the shards of a host that was removed to others. */
    void move(HostState from, Collection<HostState> to) throws NoHostException {
        for (Shard shard : List.copyOf(from.shards())) {
            place(shard, to);
        }
    }

    void place(Shard shard, Collection<HostState> to) throws NoHostException {
        if (to.isEmpty()) {
            throw new NoHostException("no host for shard " + shard.id());
        }
        // An idle shard adds no load: the next one goes to the same host.
        HostState chosen = to.stream().min(Comparator.comparingInt(HostState::load)).orElseThrow();
        chosen.place(shard);
        catalog.placed(shard, chosen.name());
    }
}
