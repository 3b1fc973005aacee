package snapshot;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The server that makes changes: it writes each to its log and sends it to all learners. */
public final class Leader implements Requests {
    private static final Logger LOG = Logger.getLogger(Leader.class.getName());
    private static final int HISTORY = 500;
    private static final int SNAPSHOT_EVERY = 25;

    private final Store store;
    private final List<LearnerHandler> learners = new ArrayList<>();
    /** The last changes, for learners that were away for a short time. */
    private final Deque<Txn> history = new ArrayDeque<>();
    private long historyBegin;
    private long last;
    private int sinceSnapshot;

    private Leader(Store store) throws IOException {
        this.store = store;
        store.accept(store.epoch() + 1);
        last = Txn.first(store.epoch());
        store.tree().begin(last);
        historyBegin = last;
    }

    public static void main(String[] args) {
        Logging.install();
        Options options = new Options(args);
        try {
            Leader leader = new Leader(new Store(Path.of(options.text("data"))));
            new Acceptor("LearnerAcceptor", options.number("learners", 7500), leader::learn).start();
            new Acceptor("ClientAcceptor", options.number("clients", 7501), it -> Session.serve(it, leader)).start();
            LOG.log(Level.INFO, "leading epoch {0}", leader.store.epoch());
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    private void learn(Socket socket) throws IOException {
        new LearnerHandler(this, socket).run();
    }

    long epoch() {
        return store.epoch();
    }

    @Override
    public synchronized String set(String key, String value) throws IOException {
        Txn txn = new Txn(last + 1, key, value);
        store.change(txn);
        last = txn.zxid();
        remember(txn);
        for (LearnerHandler learner : learners) {
            learner.send(txn);
        }
        if (++sinceSnapshot == SNAPSHOT_EVERY) {
            store.takeSnapshot();
            sinceSnapshot = 0;
        }
        return "OK";
    }

    private void remember(Txn txn) {
        history.addLast(txn);
        if (history.size() > HISTORY) {
            historyBegin = history.removeFirst().zxid();
        }
    }

    @Override
    public String get(String key) {
        return store.tree().get(key);
    }

    /**
     * What a learner lacks that has everything up to this change: the changes after it, or none where the history does not
     * reach back so far. The learner gets every later change.
     */
    synchronized List<Txn> register(LearnerHandler learner, long zxid) {
        learners.add(learner);
        if (zxid < historyBegin || zxid > last) {
            return null;
        }
        return history.stream().filter(it -> it.zxid() > zxid).toList();
    }

    synchronized void unregister(LearnerHandler learner) {
        learners.remove(learner);
    }

    /** The whole tree, as a learner reads it. It may have changes that the learner gets once more. */
    byte[] tree() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        store.tree().write(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }
}
