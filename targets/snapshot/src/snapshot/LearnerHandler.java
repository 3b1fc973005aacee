package snapshot;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A learner at the leader: brings it up to date, then sends it each change. */
final class LearnerHandler {
    private static final Logger LOG = Logger.getLogger(LearnerHandler.class.getName());
    private static final long PING_MS = 300;
    private static final int ANSWER_MS = 3000;

    private final Leader leader;
    private final Socket socket;
    private final BlockingQueue<Txn> queue = new LinkedBlockingQueue<>();

    LearnerHandler(Leader leader, Socket socket) {
        this.leader = leader;
        this.socket = socket;
    }

    void send(Txn txn) {
        queue.add(txn);
    }

    void run() throws IOException {
        socket.setSoTimeout(ANSWER_MS);
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        String name = in.readUTF();
        long zxid = in.readLong();
        try {
            List<Txn> missing = leader.register(this, zxid);
            out.writeLong(leader.epoch());
            if (missing == null) {
                LOG.log(Level.INFO, "sending the tree to {0}, which is at {1}", new Object[] {name, Long.toHexString(zxid)});
                out.writeUTF("SNAP");
                out.write(leader.tree());
            } else {
                LOG.log(Level.INFO, "sending {0} changes to {1}", new Object[] {missing.size(), name});
                out.writeUTF("DIFF");
                out.writeInt(missing.size());
                for (Txn txn : missing) {
                    txn.write(out);
                }
            }
            out.flush();
            LOG.log(Level.INFO, "{0} follows in epoch {1}", new Object[] {name, in.readLong()});
            forward(in, out);
        } finally {
            leader.unregister(this);
        }
    }

    /** Every change, and a ping where there is none; each is answered. */
    private void forward(DataInputStream in, DataOutputStream out) throws IOException {
        while (true) {
            Txn txn = next();
            out.writeBoolean(txn != null);
            if (txn != null) {
                txn.write(out);
            }
            out.flush();
            in.readLong();
        }
    }

    private Txn next() throws IOException {
        try {
            return queue.poll(PING_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new IOException("interrupted", e);
        }
    }
}
