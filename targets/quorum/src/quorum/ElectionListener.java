package quorum;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Tells every peer that asks how this server would vote. */
final class ElectionListener implements Runnable {
    private static final Logger LOG = Logger.getLogger(ElectionListener.class.getName());
    private static final int PATIENCE_MS = 500;

    private final ServerSocket listener;
    private final QuorumPeer peer;
    private int answered;

    ElectionListener(QuorumPeer peer) throws IOException {
        this.peer = peer;
        listener = new ServerSocket();
        listener.bind(Config.election(peer.config().id));
    }

    @Override
    public void run() {
        LOG.info("election port is " + listener.getLocalPort());
        while (!listener.isClosed()) {
            try (Socket socket = listener.accept()) {
                answer(socket);
                answered++;
            } catch (IOException e) {
                LOG.log(Level.WARNING, "exception while answering a vote, " + answered + " went well", e);
            }
        }
    }

    private void answer(Socket socket) throws IOException {
        socket.setSoTimeout(PATIENCE_MS);
        DataInputStream in = new DataInputStream(socket.getInputStream());
        Vote theirs = Vote.fromMessage(Message.readFrom(in));
        Vote ours = peer.vote();
        ours.toMessage().writeTo(new DataOutputStream(socket.getOutputStream()));
        LOG.info(String.format("notification: %d (%s, 0x%x), my state %s", theirs.id(), theirs.role(), theirs.zxid(),
                ours.role()));
    }
}
