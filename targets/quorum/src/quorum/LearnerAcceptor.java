package quorum;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Takes the connections of servers that want to follow this leader. */
final class LearnerAcceptor extends Thread {
    private static final Logger LOG = Logger.getLogger(LearnerAcceptor.class.getName());

    private final ServerSocket listener;
    private final Leader leader;
    private int joined;

    LearnerAcceptor(ServerSocket listener, Leader leader) {
        super("LearnerAcceptor-" + listener.getLocalPort());
        setDaemon(true);
        this.listener = listener;
        this.leader = leader;
    }

    @Override
    public void run() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                socket.setTcpNoDelay(true);
                new LearnerHandler(socket, leader, ++joined).start();
            } catch (IOException e) {
                if (!listener.isClosed()) {
                    LOG.log(Level.WARNING, "exception while accepting a follower, going on", e);
                }
            }
        }
        LOG.info("no longer accepting followers, " + joined + " joined");
    }
}
