package quorum;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Finds out whom to follow by asking all peers. A peer that leads is followed; else the best vote of all servers
 * wins, or of a majority once waiting for the rest took too long. Whoever wins still needs a majority that joins.
 */
final class Elector {
    private static final Logger LOG = Logger.getLogger(Elector.class.getName());
    private static final int ASK_MS = 500;
    private static final int AGAIN_MS = 100;
    /** Servers are started together, but a machine under load may be long about it. */
    private static final int FIRST_PATIENCE_MS = 10_000;
    private static final int LATER_PATIENCE_MS = 500;

    private final QuorumPeer peer;
    private int elections;
    private int attempt;

    Elector(QuorumPeer peer) {
        this.peer = peer;
    }

    int elect() throws InterruptedException {
        long patience = elections++ == 0 ? FIRST_PATIENCE_MS : LATER_PATIENCE_MS;
        long start = System.nanoTime();
        LOG.info(String.format("new election, my id = %d, proposed zxid = 0x%x", peer.config().id, peer.vote().zxid()));
        for (attempt = 1; ; attempt++) {
            List<Vote> votes = votes();
            for (Vote vote : votes) {
                if (vote.role() == QuorumPeer.Role.LEADING) {
                    return vote.id();
                }
            }
            long waited = (System.nanoTime() - start) / 1_000_000;
            boolean enough = votes.size() >= Config.MAJORITY && waited >= patience;
            if (votes.size() == Config.SERVERS || enough) {
                return Collections.min(votes).id();
            }
            LOG.info("notification time out, " + votes.size() + " votes so far, asking again");
            Thread.sleep(AGAIN_MS);
        }
    }

    private List<Vote> votes() {
        List<Vote> votes = new ArrayList<>();
        votes.add(peer.vote());
        for (int id = 1; id <= Config.SERVERS; id++) {
            if (id == peer.config().id) {
                continue;
            }
            try {
                votes.add(ask(id));
            } catch (IOException e) {
                LOG.log(Level.WARNING, "cannot open channel to " + id + " (attempt " + attempt + ")", e);
            }
        }
        return votes;
    }

    private Vote ask(int id) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(Config.election(id), ASK_MS);
            socket.setSoTimeout(ASK_MS);
            peer.vote().toMessage().writeTo(new DataOutputStream(socket.getOutputStream()));
            return Vote.fromMessage(Message.readFrom(new DataInputStream(socket.getInputStream())));
        }
    }
}
