package shards;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What the manager knows of a host. Only its thread uses it. */
final class HostState {
    private final Host host;
    private final Map<Integer, Shard> shards = new TreeMap<>();
    private List<Shard> opened = new ArrayList<>();
    private Set<Integer> settled = new HashSet<>();
    private int load;
    private long reportedNs = System.nanoTime();

    HostState(Host host) {
        this.host = host;
    }

    String name() {
        return host.name();
    }

    int load() {
        return load;
    }

    Collection<Shard> shards() {
        return shards.values();
    }

    /** The host opens the shard when it is asked next. */
    void place(Shard shard) {
        shards.put(shard.id(), shard);
        opened.add(shard);
        load += shard.load();
    }

    void settle(int shard) {
        settled.add(shard);
    }

    void ask(int round) {
        host.ask(new Ask(round, opened, settled));
        opened = new ArrayList<>();
        settled = new HashSet<>();
    }

    void reported(long ns) {
        reportedNs = ns;
    }

    long reportedNs() {
        return reportedNs;
    }

    @Override
    public String toString() {
        return name() + " shards=" + shards.size() + " load=" + load;
    }
}
