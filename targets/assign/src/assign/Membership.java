package assign;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The connection of a server to the registry, made again whenever it breaks. */
final class Membership {
    private static final Logger LOG = Logger.getLogger(Membership.class.getName());
    private static final int ANSWER_MS = 2000;
    private static final long RETRY_MS = 100;
    private static final int ATTEMPTS = 40;

    private final String name;
    private final int registry;
    private Socket socket;
    private DataInputStream in;
    private DataOutputStream out;

    Membership(String name, int registry) {
        this.name = name;
        this.registry = registry;
    }

    synchronized void join() throws IOException {
        attempt(() -> { });
    }

    /** Has the registry note the state of a region. */
    synchronized void announce(String region, String state) throws IOException {
        attempt(() -> {
            out.writeUTF(region);
            out.writeUTF(state);
            out.flush();
            in.readUTF();
        });
    }

    private interface Exchange {
        void run() throws IOException;
    }

    private void attempt(Exchange exchange) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                if (socket == null) {
                    connect();
                }
                exchange.run();
                return;
            } catch (IOException e) {
                LOG.log(Level.INFO, "no registry: {0}", e.toString());
                drop();
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
            pause();
        }
    }

    private void connect() throws IOException {
        socket = new Socket();
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), registry), ANSWER_MS);
        socket.setSoTimeout(ANSWER_MS);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        out.writeUTF("SERVER");
        out.writeUTF(name);
        out.flush();
    }

    private void drop() {
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException e) {
            LOG.log(Level.INFO, "cannot close: {0}", e.toString());
        }
        socket = null;
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(RETRY_MS);
        } catch (InterruptedException e) {
            throw new IOException("interrupted", e);
        }
    }
}
