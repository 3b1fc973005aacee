package lease;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The shards as a client sees them. It remembers whose a shard is until that worker does not serve it. */
final class Table implements Closeable {
    private static final Logger LOG = Logger.getLogger(Table.class.getName());
    private static final long PATIENCE_MS = 15_000;
    private static final long AGAIN_MS = 60;

    private final int coordinatorPort;
    private final Map<Integer, Integer> ports = new TreeMap<>();
    private final Map<Integer, Connection> workers = new TreeMap<>();

    Table(int coordinatorPort) {
        this.coordinatorPort = coordinatorPort;
    }

    static int shardOf(String key) {
        return Math.floorMod(key.hashCode(), LeaseTable.SHARDS);
    }

    void put(String key, String value) throws IOException, InterruptedException {
        request("PUT", key, value);
    }

    String get(String key) throws IOException, InterruptedException {
        return request("GET", key, null);
    }

    private String request(String operation, String key, String value) throws IOException, InterruptedException {
        int shard = shardOf(key);
        long deadline = System.nanoTime() + PATIENCE_MS * 1_000_000;
        while (true) {
            try {
                String answer = ask(shard, operation, key, value);
                if (answer.equals("OK") || answer.startsWith("VALUE ")) {
                    return answer;
                }
                LOG.log(Level.INFO, "{0} {1}: {2}, asking the coordinator", new Object[] {operation, key, answer});
            } catch (IOException e) {
                LOG.log(Level.WARNING, operation + " " + key + " failed, trying again", e);
                drop(shard);
            }
            ports.remove(shard);
            if (System.nanoTime() > deadline) {
                throw new IOException(operation + " " + key + " was not served for " + PATIENCE_MS + " ms");
            }
            Thread.sleep(AGAIN_MS);
        }
    }

    private String ask(int shard, String operation, String key, String value) throws IOException {
        Integer port = ports.get(shard);
        if (port == null) {
            port = locate(shard);
            ports.put(shard, port);
        }
        Connection worker = workers.get(port);
        if (worker == null) {
            worker = new Connection(port, "client");
            workers.put(port, worker);
        }
        worker.out().writeUTF(operation);
        worker.out().writeInt(shard);
        worker.out().writeUTF(key);
        if (value != null) {
            worker.out().writeUTF(value);
        }
        worker.out().flush();
        return worker.in().readUTF();
    }

    private int locate(int shard) throws IOException {
        try (Connection coordinator = new Connection(coordinatorPort, "client")) {
            coordinator.out().writeUTF("LOCATE");
            coordinator.out().writeInt(shard);
            coordinator.out().flush();
            int port = coordinator.in().readInt();
            if (port == 0) {
                throw new IOException("shard " + shard + " has no owner");
            }
            return port;
        }
    }

    private void drop(int shard) throws IOException {
        Connection worker = ports.containsKey(shard) ? workers.remove(ports.get(shard)) : null;
        if (worker != null) {
            worker.close();
        }
    }

    @Override
    public void close() throws IOException {
        for (Connection worker : workers.values()) {
            worker.close();
        }
    }
}
