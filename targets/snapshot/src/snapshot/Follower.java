package snapshot;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A server that has what the leader has, and answers those who read. */
public final class Follower implements Requests {
    private static final Logger LOG = Logger.getLogger(Follower.class.getName());
    private static final int ANSWER_MS = 3000;
    private static final long RETRY_MS = 100;

    private final String name;
    private final Store store;
    private final InetSocketAddress leader;

    private Follower(String name, Store store, InetSocketAddress leader) {
        this.name = name;
        this.store = store;
        this.leader = leader;
    }

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        Options options = new Options(args);
        try {
            Store store = new Store(Path.of(options.text("data")));
            int port = options.number("leader", 7500);
            InetSocketAddress leader = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
            Follower follower = new Follower(options.text("name"), store, leader);
            new Acceptor("ClientAcceptor", options.number("clients", 7502), it -> Session.serve(it, follower)).start();
            follower.follow();
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    private void follow() throws InterruptedException {
        while (true) {
            try (Socket socket = new Socket()) {
                socket.connect(leader, ANSWER_MS);
                socket.setSoTimeout(ANSWER_MS);
                socket.setTcpNoDelay(true);
                learn(new DataInputStream(new BufferedInputStream(socket.getInputStream())),
                        new DataOutputStream(new BufferedOutputStream(socket.getOutputStream())));
            } catch (IOException e) {
                LOG.log(Level.INFO, "no leader: {0}", e.toString());
            }
            Thread.sleep(RETRY_MS);
        }
    }

    private void learn(DataInputStream in, DataOutputStream out) throws IOException {
        out.writeUTF(name);
        out.writeLong(store.tree().zxid());
        out.flush();
        long epoch = in.readLong();
        String kind = in.readUTF();
        if (kind.equals("SNAP")) {
            store.acceptTree(Tree.read(in), epoch);
        } else {
            store.accept(epoch);
            for (int left = in.readInt(); left > 0; left--) {
                store.change(Txn.read(in));
            }
        }
        acknowledge(out);
        LOG.log(Level.INFO, "following epoch {0}", epoch);
        while (true) {
            if (in.readBoolean()) {
                Txn txn = Txn.read(in);
                // A tree may have had it already.
                if (txn.zxid() > store.tree().zxid()) {
                    store.change(txn);
                }
            }
            acknowledge(out);
        }
    }

    private void acknowledge(DataOutputStream out) throws IOException {
        out.writeLong(store.tree().zxid());
        out.flush();
    }

    @Override
    public String set(String key, String value) throws IOException {
        throw new IOException("a follower takes no changes");
    }

    @Override
    public String get(String key) {
        return store.tree().get(key);
    }
}
