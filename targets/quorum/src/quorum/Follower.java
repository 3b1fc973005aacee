package quorum;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.HashMap;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Follows a leader: takes over its tree, then logs what it proposes and applies what it commits. */
final class Follower {
    private static final Logger LOG = Logger.getLogger(Follower.class.getName());
    private static final int ATTEMPTS = 5;
    private static final int AGAIN_MS = 150;

    private final Config config;
    private final Store store;
    private final SyncThread sync;
    private final CommitThread commit;
    private final Map<Long, Txn> proposed = new HashMap<>();
    private volatile PacketSender sender;
    private volatile long heard;
    private volatile boolean established;

    Follower(Config config, Store store, SyncThread sync, CommitThread commit) {
        this.config = config;
        this.store = store;
        this.sync = sync;
        this.commit = commit;
    }

    boolean serving() {
        return established && System.nanoTime() - heard < Config.SILENCE_MS * 1_000_000L;
    }

    void forward(Txn request) throws IOException {
        sender.add(new Message(Message.Type.REQUEST, request.request(), request.toBytes()));
    }

    void follow(int leader) throws IOException, InterruptedException {
        try (Socket socket = connect(leader)) {
            DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            Message.of(Message.Type.JOIN, config.id).writeTo(new DataOutputStream(socket.getOutputStream()));
            DataTree tree = DataTree.deserialize(new RecordInput(in));
            LOG.info(String.format("got a snapshot of %d nodes as of 0x%x", tree.size(), tree.zxid()));
            store.install(tree);
            sender = new PacketSender(socket);
            sender.start("FollowerSender");
            while (true) {
                handle(Message.readFrom(in));
            }
        } finally {
            established = false;
            if (sender != null) {
                sender.close();
            }
        }
    }

    /** The leader may know of its election later than we do. */
    private Socket connect(int leader) throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            Socket socket = new Socket();
            try {
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(Config.SILENCE_MS);
                socket.connect(Config.learners(leader), Config.SILENCE_MS);
                return socket;
            } catch (IOException e) {
                socket.close();
                if (attempt == ATTEMPTS) {
                    throw e;
                }
                LOG.log(Level.WARNING, "unexpected exception, tries=" + attempt + ", connecting to " + leader, e);
                Thread.sleep(AGAIN_MS);
            }
        }
    }

    private void handle(Message message) throws IOException {
        heard = System.nanoTime();
        switch (message.type()) {
            case PING -> sender.add(Message.of(Message.Type.PONG, message.number()));
            case PROPOSE -> {
                Txn txn = Txn.fromBytes(message.body());
                proposed.put(txn.zxid(), txn);
                store.remember(txn);
                PacketSender answers = sender;
                sync.add(txn, place -> answers.add(Message.of(Message.Type.ACK, place)));
            }
            case COMMIT -> {
                Txn txn = proposed.remove(message.number());
                if (txn == null) {
                    throw new IOException(String.format("commit of 0x%x without a proposal", message.number()));
                }
                commit.add(txn);
            }
            case UPTODATE -> {
                established = true;
                LOG.info("serving clients as FOLLOWING, epoch " + message.number());
            }
            default -> throw new IOException("a leader does not send " + message.type());
        }
    }
}
