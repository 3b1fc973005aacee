package lease;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Keeps the leases of a worker: tells the coordinator that it lives, and opens and closes shards as it is told. */
final class Renewer implements Runnable {
    private static final Logger LOG = Logger.getLogger(Renewer.class.getName());
    private static final long PERIOD_MS = 80;
    private static final int BEATS_PER_CONNECTION = 15;

    private final String name;
    private final int port;
    private final int coordinatorPort;
    private final Leases leases;
    private final Shards shards;

    Renewer(String name, int port, int coordinatorPort, Leases leases, Shards shards) {
        this.name = name;
        this.port = port;
        this.coordinatorPort = coordinatorPort;
        this.leases = leases;
        this.shards = shards;
    }

    @Override
    public void run() {
        try {
            while (true) {
                try (Connection connection = new Connection(coordinatorPort, name)) {
                    for (int i = 0; i < BEATS_PER_CONNECTION; i++) {
                        beat(connection);
                        Thread.sleep(PERIOD_MS);
                    }
                } catch (IOException e) {
                    LOG.log(Level.WARNING, "cannot tell the coordinator that we live, connecting again", e);
                    Thread.sleep(PERIOD_MS);
                }
            }
        } catch (InterruptedException e) {
            // Nobody keeps the leases from now on.
            leases.told(Map.of(), 0);
            LOG.info("interrupted, giving up all shards");
        }
    }

    private void beat(Connection connection) throws IOException {
        long sentNs = System.nanoTime();
        connection.out().writeUTF("BEAT");
        connection.out().writeInt(port);
        connection.out().flush();
        Map<Integer, Integer> owned = new TreeMap<>();
        int count = connection.in().readInt();
        for (int i = 0; i < count; i++) {
            int shard = connection.in().readInt();
            owned.put(shard, connection.in().readInt());
        }
        leases.told(owned, sentNs);
        for (Map.Entry<Integer, Integer> lease : owned.entrySet()) {
            open(lease.getKey(), lease.getValue());
        }
    }

    /** What cannot be opened is tried again at the next beat. */
    private void open(int shard, int epoch) {
        if (leases.isOpen(shard, epoch)) {
            return;
        }
        try {
            shards.open(shard, epoch);
            leases.opened(shard, epoch);
            LOG.log(Level.INFO, "shard {0} is open, epoch {1}", new Object[] {shard, epoch});
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot open shard " + shard, e);
        }
    }
}
