package journal;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Takes records over loopback, a line each, and answers "ok" or "error" once the journal has decided. */
final class Server implements Runnable {
    private static final Logger LOG = Logger.getLogger(Server.class.getName());

    private final ServerSocket socket;
    private final Journal journal;

    Server(Journal journal) throws IOException {
        this.journal = journal;
        this.socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    int port() {
        return socket.getLocalPort();
    }

    void stop() throws IOException {
        socket.close();
    }

    @Override
    public void run() {
        int connections = 0;
        while (!socket.isClosed()) {
            try {
                Socket connection = socket.accept();
                Thread handler = new Thread(() -> serve(connection), "Handler-" + ++connections);
                handler.setDaemon(true);
                handler.start();
            } catch (IOException e) {
                if (!socket.isClosed()) {
                    LOG.log(Level.WARNING, "accept failed, going on", e);
                }
            }
        }
    }

    private void serve(Socket connection) {
        try (connection;
                BufferedReader in = new BufferedReader(new InputStreamReader(connection.getInputStream()));
                PrintWriter out = new PrintWriter(connection.getOutputStream(), true)) {
            for (String record = in.readLine(); record != null; record = in.readLine()) {
                out.println(store(record) ? "ok" : "error");
            }
        } catch (IOException e) {
            LOG.log(Level.INFO, "connection lost", e);
        }
    }

    private boolean store(String record) {
        try {
            journal.append(record);
            return true;
        } catch (IOException e) {
            LOG.log(Level.WARNING, "record refused: {0}", e.getMessage());
            return false;
        }
    }
}
