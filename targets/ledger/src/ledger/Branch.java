package ledger;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Keeps accounts. */
public final class Branch {
    private static final Logger LOG = Logger.getLogger(Branch.class.getName());
    static final int ACCOUNTS = 20;
    static final long EACH = 10_000;

    private Branch() {}

    public static void main(String[] args) throws IOException {
        Logging.install();
        Options options = new Options(args);
        int port = options.number("port", 7402);
        Path data = Path.of(options.text("data"));
        try (ChangeLog log = new ChangeLog(data);
                ServerSocket socket = new ServerSocket(port, 50, InetAddress.getLoopbackAddress())) {
            Accounts accounts = new Accounts(log, ACCOUNTS, EACH);
            start("Statement", new Statement(accounts, data));
            LOG.log(Level.INFO, "branch is serving on port {0}", Integer.toString(port));
            accept(socket, accounts);
        }
    }

    private static void accept(ServerSocket socket, Accounts accounts) {
        Thread.currentThread().setName("Acceptor");
        while (true) {
            try {
                Socket connection = socket.accept();
                start("Session", new BranchSession(accounts, connection));
            } catch (IOException e) {
                LOG.log(Level.WARNING, "cannot take a connection, going on", e);
            }
        }
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }
}
