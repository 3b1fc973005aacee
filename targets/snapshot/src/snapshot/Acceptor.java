package snapshot;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A thread that takes connections on a port of the loopback, and gives each a thread of its own. */
final class Acceptor extends Thread {
    private static final Logger LOG = Logger.getLogger(Acceptor.class.getName());

    private final ServerSocket server;
    private final Handler handler;

    /** What is done with a connection. */
    interface Handler {
        void handle(Socket socket) throws IOException;
    }

    Acceptor(String name, int port, Handler handler) throws IOException {
        super(name);
        this.server = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
        this.handler = handler;
    }

    @Override
    public void run() {
        for (int number = 1; ; number++) {
            try {
                Socket socket = server.accept();
                Thread thread = new Thread(() -> handle(socket), getName().replace("Acceptor", "-" + number));
                thread.setDaemon(true);
                thread.start();
            } catch (IOException e) {
                LOG.log(Level.WARNING, "cannot take a connection, going on", e);
            }
        }
    }

    private void handle(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            handler.handle(socket);
        } catch (IOException e) {
            LOG.log(Level.INFO, "connection lost: {0}", e.toString());
        }
    }
}
