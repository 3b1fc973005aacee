package quorum;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Says "ok" to whoever connects, as long as this server is in touch with a majority. */
final class HealthServer implements Runnable {
    private static final Logger LOG = Logger.getLogger(HealthServer.class.getName());

    private final ServerSocket listener;
    private final QuorumPeer peer;
    private int asked;

    HealthServer(QuorumPeer peer) throws IOException {
        this.peer = peer;
        listener = new ServerSocket();
        listener.bind(Config.health(peer.config().id));
    }

    @Override
    public void run() {
        while (!listener.isClosed()) {
            try (Socket socket = listener.accept()) {
                String answer = peer.serving() ? "ok" : "not serving, " + peer.role();
                socket.getOutputStream().write((answer + "\n").getBytes(StandardCharsets.UTF_8));
                LOG.info("health check " + ++asked + ": " + answer);
            } catch (IOException e) {
                LOG.log(Level.WARNING, "health check failed", e);
            }
        }
    }
}
