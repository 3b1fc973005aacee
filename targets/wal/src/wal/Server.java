package wal;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The region server: a log at the peer, a region, the threads that keep both in shape, and a session a client. */
public final class Server {
    private static final Logger LOG = Logger.getLogger(Server.class.getName());
    private static final int FLUSH_BYTES = 60 << 10;

    final Settings settings;
    final WriteAheadLog log;
    final LogRoller roller;
    final Region region;
    final Flusher flusher;
    private int sessions;

    private Server(Settings settings, Options options) throws IOException {
        int peerPort = options.number("peer", 7102);
        Path data = Path.of(options.text("data"));
        this.settings = settings;
        this.log = new WriteAheadLog(peerPort);
        this.roller = new LogRoller(log);
        this.region = new Region(data.resolve("region"));
        Compactor compactor = new Compactor(region);
        this.flusher = new Flusher(region, log, compactor, settings.syncTimeoutMs());
        start("LogRoller", roller);
        start("MemStoreFlusher", flusher);
        start("Compactor", compactor);
        start("Heartbeat", new Heartbeat(peerPort, options.number("beat-ms", 20)));
        start("Replication", new Replication(log, options.number("sink", 7109)));
        start("Settings", settings);
    }

    public static void main(String[] args) throws IOException {
        Logging.install();
        Options options = new Options(args);
        int port = options.number("port", 7101);
        try (ServerSocket socket = new ServerSocket(port, 50, InetAddress.getLoopbackAddress())) {
            Settings settings = new Settings(Path.of(options.text("data"), "server.properties"));
            Server server = new Server(settings, options);
            LOG.log(Level.INFO, "region server is serving on port {0}", Integer.toString(port));
            server.accept(socket);
        }
    }

    private void accept(ServerSocket socket) {
        Thread.currentThread().setName("Acceptor");
        while (true) {
            try {
                Socket connection = socket.accept();
                new Session(this, connection, ++sessions).start();
            } catch (IOException e) {
                LOG.log(Level.WARNING, "cannot take a connection, going on", e);
            }
        }
    }

    /** An edit is safe in the log: it may be seen now. */
    void apply(String key, String value) {
        if (region.put(key, value) >= FLUSH_BYTES) {
            flusher.request();
        }
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }
}
