package lease;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** What this worker owns, as it was told last, for as long as that can be relied on. */
final class Leases {
    /** The coordinator counts later than we do; the rest is for writes that have begun. */
    private static final long RELIABLE_NS = TimeUnit.MILLISECONDS.toNanos(LeaseTable.LEASE_MS * 6 / 10);

    private final Map<Integer, Integer> epochs = new TreeMap<>();
    private long validUntilNs;

    /** The coordinator has answered a beat that was sent at this time. What is ours under a new epoch has to be opened again. */
    synchronized void told(Map<Integer, Integer> owned, long sentNs) {
        epochs.entrySet().retainAll(owned.entrySet());
        validUntilNs = sentNs + RELIABLE_NS;
    }

    /** A shard that is ours is open, and may be written. */
    synchronized void opened(int shard, int epoch) {
        epochs.put(shard, epoch);
    }

    synchronized boolean isOpen(int shard, int epoch) {
        return Integer.valueOf(epoch).equals(epochs.get(shard));
    }

    /** The epoch to write a shard under, or 0 if it is not ours, or may be another's by now. */
    synchronized int epochOf(int shard) {
        return System.nanoTime() < validUntilNs ? epochs.getOrDefault(shard, 0) : 0;
    }
}
