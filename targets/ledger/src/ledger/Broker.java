package ledger;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Takes orders of tellers and moves money between branches. */
public final class Broker {
    private static final Logger LOG = Logger.getLogger(Broker.class.getName());

    final Intents intents;
    final int[] ports;
    private final AtomicLong transfers = new AtomicLong();

    private Broker(Intents intents, int[] ports) {
        this.intents = intents;
        this.ports = ports;
    }

    public static void main(String[] args) throws IOException {
        Logging.install();
        Options options = new Options(args);
        int port = options.number("port", 7401);
        int[] ports = {options.number("east", 7402), options.number("west", 7403)};
        try (Intents intents = new Intents(Path.of(options.text("data")));
                ServerSocket socket = new ServerSocket(port, 50, InetAddress.getLoopbackAddress())) {
            Broker broker = new Broker(intents, ports);
            start("Recovery", new Recovery(intents, ports));
            start("Reporter", new Reporter(intents, options.number("collector", 7409)));
            LOG.log(Level.INFO, "broker is serving on port {0}", Integer.toString(port));
            broker.accept(socket);
        }
    }

    private void accept(ServerSocket socket) {
        Thread.currentThread().setName("Acceptor");
        while (true) {
            try {
                Socket connection = socket.accept();
                start("Session", new BrokerSession(this, connection));
            } catch (IOException e) {
                LOG.log(Level.WARNING, "cannot take a connection, going on", e);
            }
        }
    }

    long nextId() {
        return transfers.incrementAndGet();
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }
}
