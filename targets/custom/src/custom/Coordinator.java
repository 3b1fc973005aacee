package custom;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Compares two replicas, a range at a time: asks both for a digest, and a thread of its own compares those that come. */
public final class Coordinator {
    private static final Logger LOG = Logger.getLogger(Coordinator.class.getName());
    private static final String[] REPLICAS = {"r1", "r2"};
    private static final long LOOK_MS = 500;
    private static final long RETRY_MS = 100;
    private static final int ATTEMPTS = 40;

    private final Options options;
    private final BlockingQueue<Digest> digests = new LinkedBlockingQueue<>();
    private final Map<String, Peer> peers = new HashMap<>();
    private volatile Session current;

    private Coordinator(Options options) {
        this.options = options;
    }

    public static void main(String[] args) {
        Logging.install();
        try {
            Coordinator coordinator = new Coordinator(new Options(args));
            Thread comparer = new Thread(coordinator::compareAll, "Comparer");
            comparer.setDaemon(true);
            comparer.start();
            new Acceptor("ClientAcceptor", coordinator.options.number("clients", 7870), coordinator::serve).start();
            LOG.info("the coordinator is there");
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    private void serve(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        while (true) {
            String range;
            try {
                range = in.readUTF();
            } catch (EOFException e) {
                return;
            }
            try {
                out.writeUTF(compare(range));
            } catch (InterruptedException e) {
                throw new IOException("interrupted", e);
            }
            out.flush();
        }
    }

    /** One comparison at a time, since they are expensive. */
    private synchronized String compare(String range) throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                for (String replica : REPLICAS) {
                    peer(replica);
                }
                Session session = new Session(range);
                current = session;
                for (String replica : REPLICAS) {
                    peer(replica).ask(range);
                }
                return session.await();
            } catch (IOException e) {
                LOG.log(Level.INFO, "cannot compare {0}: {1}", new Object[] {range, e.toString()});
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
            Thread.sleep(RETRY_MS);
        }
    }

    private Peer peer(String replica) throws IOException {
        Peer peer = peers.get(replica);
        if (peer == null || peer.isBroken()) {
            peer = new Peer(replica, options.number(replica, 0), digests);
            peers.put(replica, peer);
        }
        return peer;
    }

    private void compareAll() {
        Map<String, String> sums = new HashMap<>();
        String range = "";
        while (true) {
            try {
                Digest digest = digests.poll(LOOK_MS, TimeUnit.MILLISECONDS);
                Session session = current;
                if (digest == null || session == null || !digest.range().equals(session.range())) {
                    continue;
                }
                if (!digest.range().equals(range)) {
                    sums.clear();
                    range = digest.range();
                }
                sums.put(digest.replica(), digest.sum());
                if (sums.size() == REPLICAS.length) {
                    session.end(sums.values().stream().distinct().count() == 1 ? "SAME" : "DIFFERENT");
                    sums.clear();
                }
            } catch (InterruptedException e) {
                return;
            }
        }
    }
}
