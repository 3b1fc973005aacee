package lease;

import java.util.Map;
import java.util.TreeMap;

/** What this worker owns, as it was told last. */
final class Leases {
    private final Map<Integer, Integer> epochs = new TreeMap<>();

    /** The coordinator has answered a beat that was sent at this time. What is ours under a new epoch has to be opened again. */
    synchronized void told(Map<Integer, Integer> owned, long sentNs) {
        epochs.entrySet().retainAll(owned.entrySet());
    }

    /** A shard that is ours is open, and may be written. */
    synchronized void opened(int shard, int epoch) {
        epochs.put(shard, epoch);
    }

    synchronized boolean isOpen(int shard, int epoch) {
        return Integer.valueOf(epoch).equals(epochs.get(shard));
    }

    /** The epoch to write a shard under, or 0 if it is not ours. */
    synchronized int epochOf(int shard) {
        return epochs.getOrDefault(shard, 0);
    }
}
