package lease;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Serves the shards that it owns. One that is a standby asks for none before it is told to join. */
public final class Worker {
    private static final Logger LOG = Logger.getLogger(Worker.class.getName());

    private final String name;
    private final Leases leases = new Leases();
    private final Shards shards;
    private final Renewer renewer;
    private boolean joined;

    private Worker(Options options, int port) throws IOException {
        this.name = options.text("name");
        Path data = Path.of(options.text("data"));
        this.shards = new Shards(name, data);
        this.renewer = new Renewer(name, port, options.number("coordinator", 7301), leases, shards);
        start("Scrubber", new Scrubber(data));
        start("Reporter", new Reporter(name, options.number("collector", 7309)));
    }

    public static void main(String[] args) throws IOException {
        Logging.install();
        Options options = new Options(args);
        int port = options.number("port", 7302);
        try (ServerSocket socket = new ServerSocket(port, 50, InetAddress.getLoopbackAddress())) {
            Worker worker = new Worker(options, port);
            if (options.number("standby", 0) == 0) {
                worker.join();
            }
            LOG.log(Level.INFO, "worker {0} is serving on port {1}", new Object[] {worker.name, Integer.toString(port)});
            worker.accept(socket);
        }
    }

    private void accept(ServerSocket socket) {
        Thread.currentThread().setName("Acceptor");
        while (true) {
            try {
                Socket connection = socket.accept();
                start("Session", new WorkerSession(this, connection));
            } catch (IOException e) {
                LOG.log(Level.WARNING, "cannot take a connection, going on", e);
            }
        }
    }

    /** From now on this worker takes what nobody owns. */
    synchronized void join() {
        if (!joined) {
            joined = true;
            LOG.log(Level.INFO, "{0} joins", name);
            start("Renewer", renewer);
        }
    }

    /** Whether the shard is ours, and so was written. */
    boolean put(int shard, String key, String value) throws IOException {
        int epoch = leases.epochOf(shard);
        if (epoch == 0) {
            LOG.log(Level.WARNING, "shard {0} is not ours, refusing {1}", new Object[] {shard, key});
            return false;
        }
        shards.put(shard, epoch, key, value);
        return true;
    }

    /** The value of a key, or nothing if the shard is not ours. */
    String get(int shard, String key) throws IOException {
        return leases.epochOf(shard) == 0 ? null : shards.get(shard, key);
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }
}
