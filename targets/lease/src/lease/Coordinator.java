package lease;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Says who owns which shard: takes the beats of the workers, and tells clients whom to ask. */
public final class Coordinator {
    private static final Logger LOG = Logger.getLogger(Coordinator.class.getName());

    private Coordinator() {}

    public static void main(String[] args) throws IOException {
        Logging.install();
        Options options = new Options(args);
        int port = options.number("port", 7301);
        LeaseTable table = new LeaseTable();
        Thread expirer = new Thread(new Expirer(table), "Expirer");
        expirer.setDaemon(true);
        expirer.start();
        try (ServerSocket socket = new ServerSocket(port, 50, InetAddress.getLoopbackAddress())) {
            LOG.log(Level.INFO, "coordinator is serving on port {0}", Integer.toString(port));
            accept(socket, table);
        }
    }

    private static void accept(ServerSocket socket, LeaseTable table) {
        Thread.currentThread().setName("Acceptor");
        while (true) {
            try {
                Socket connection = socket.accept();
                Thread session = new Thread(new CoordinatorSession(table, connection), "Session");
                session.setDaemon(true);
                session.start();
            } catch (IOException e) {
                LOG.log(Level.WARNING, "cannot take a connection, going on", e);
            }
        }
    }
}
