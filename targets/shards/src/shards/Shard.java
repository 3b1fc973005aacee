package shards;

import java.util.concurrent.atomic.AtomicLong;

/** A part of the data. A shard without load is idle: nobody reads or writes it at present. */
final class Shard {
    private final int id;
    private final int load;
    private final AtomicLong served = new AtomicLong();

    Shard(int id, int load) {
        this.id = id;
        this.load = load;
    }

    int id() {
        return id;
    }

    int load() {
        return load;
    }

    void served(long requests) {
        served.addAndGet(requests);
    }

    long served() {
        return served.get();
    }
}
