package lease;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The leases. A worker that beats keeps what it owns, and is given what nobody owns. What was not kept for the length of a
 * lease is nobody's. Each time that a shard is given away its epoch grows.
 */
final class LeaseTable {
    static final int SHARDS = 3;
    static final long LEASE_MS = 1200;
    private static final long LATE_MS = 400;
    private static final Logger LOG = Logger.getLogger(LeaseTable.class.getName());

    private final Lease[] leases = new Lease[SHARDS];

    private static final class Lease {
        String owner;
        int port;
        int epoch;
        long keptNs;
    }

    LeaseTable() {
        for (int shard = 0; shard < SHARDS; shard++) {
            leases[shard] = new Lease();
        }
    }

    /** The shards of a worker that lives, with their epochs. */
    synchronized Map<Integer, Integer> beat(String worker, int port) {
        Map<Integer, Integer> owned = new TreeMap<>();
        long now = System.nanoTime();
        for (int shard = 0; shard < SHARDS; shard++) {
            Lease lease = leases[shard];
            if (lease.owner == null) {
                lease.owner = worker;
                lease.port = port;
                lease.epoch++;
                LOG.log(Level.INFO, "shard {0} is given to {1}, epoch {2}", new Object[] {shard, worker, lease.epoch});
            } else if (lease.owner.equals(worker)) {
                long passedMs = TimeUnit.NANOSECONDS.toMillis(now - lease.keptNs);
                if (passedMs > LATE_MS) {
                    LOG.log(Level.WARNING, "{0} was not heard of for {1} ms", new Object[] {worker, passedMs});
                }
            } else {
                continue;
            }
            lease.keptNs = now;
            owned.put(shard, lease.epoch);
        }
        return owned;
    }

    /** The port of a shard's owner, 0 if it has none. */
    synchronized int portOf(int shard) {
        return leases[shard].owner == null ? 0 : leases[shard].port;
    }

    synchronized void expire() {
        long now = System.nanoTime();
        for (int shard = 0; shard < SHARDS; shard++) {
            Lease lease = leases[shard];
            if (lease.owner != null && now - lease.keptNs > TimeUnit.MILLISECONDS.toNanos(LEASE_MS)) {
                LOG.log(Level.WARNING, "the lease of {0} on shard {1} has run out, epoch {2}",
                        new Object[] {lease.owner, shard, lease.epoch});
                lease.owner = null;
            }
        }
    }
}
