package quorum;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Logger;

/** Puts requests into an order, proposes them, and commits what a majority has on disk, in that order. */
final class Leader {
    private static final Logger LOG = Logger.getLogger(Leader.class.getName());
    private static final int JOIN_MS = 5_000;
    private static final int RECENT = 1_000;
    private static final int STATISTICS = 4;

    /** A transaction and the servers that have it on disk. */
    private record Proposal(Txn txn, Set<Integer> acks) {}

    private final Config config;
    private final Store store;
    private final SyncThread sync;
    private final CommitThread commit;
    private final PrepThread prep;
    private final List<LearnerHandler> learners = new CopyOnWriteArrayList<>();
    private final Deque<Proposal> outstanding = new ArrayDeque<>();
    private final Deque<Txn> recent = new ArrayDeque<>();
    private long zxid;
    private int pings;
    private volatile boolean established;

    Leader(Config config, Store store, SyncThread sync, CommitThread commit) {
        this.config = config;
        this.store = store;
        this.sync = sync;
        this.commit = commit;
        this.prep = new PrepThread(config, store, this);
    }

    Store store() {
        return store;
    }

    boolean serving() {
        return established && inTouch() >= Config.MAJORITY;
    }

    /** Servers heard from lately, this one included. */
    private long inTouch() {
        return 1 + learners.stream().filter(LearnerHandler::inTouch).map(LearnerHandler::id).distinct().count();
    }

    void lead() throws IOException, InterruptedException {
        store.applyLogged();
        zxid = ((store.lastLogged() >>> 32) + 1) << 32;
        try (ServerSocket listener = new ServerSocket()) {
            listener.bind(Config.learners(config.id));
            LearnerAcceptor acceptor = new LearnerAcceptor(listener, this);
            acceptor.start();
            prep.start();
            awaitMajority();
            established = true;
            LOG.info("serving clients as LEADING, epoch " + (zxid >>> 32));
            while (inTouch() >= Config.MAJORITY) {
                ping();
                if (++pings % STATISTICS == 0) {
                    learners.forEach(learner -> LOG.info(learner.statistics()));
                }
                Thread.sleep(Config.PING_MS);
            }
            LOG.warning("shutting down as leader: only " + inTouch() + " of " + Config.SERVERS + " in touch");
        } finally {
            established = false;
            prep.interrupt();
            learners.forEach(LearnerHandler::close);
        }
    }

    private void awaitMajority() throws IOException, InterruptedException {
        long end = System.nanoTime() + JOIN_MS * 1_000_000L;
        while (inTouch() < Config.MAJORITY) {
            if (System.nanoTime() > end) {
                throw new IOException("no majority joined within " + JOIN_MS + " ms");
            }
            Thread.sleep(20);
        }
    }

    private void ping() {
        for (LearnerHandler learner : learners) {
            if (learner.inTouch()) {
                learner.send(Message.of(Message.Type.PING, System.nanoTime()));
            } else {
                LOG.warning("no answer from " + learner.id() + " for " + Config.SILENCE_MS + " ms, closing it");
                learner.close();
            }
        }
    }

    void submit(Txn request) {
        prep.add(request);
    }

    synchronized void propose(Txn request) throws IOException {
        Txn txn = request.at(zxid + 1);
        Message message = new Message(Message.Type.PROPOSE, txn.zxid(), txn.toBytes());
        zxid = txn.zxid();
        outstanding.add(new Proposal(txn, new HashSet<>()));
        learners.forEach(learner -> learner.send(message));
        store.remember(txn);
        sync.add(txn, place -> ack(place, config.id));
    }

    synchronized void ack(long place, int server) {
        for (Proposal proposal : outstanding) {
            if (proposal.txn().zxid() == place) {
                proposal.acks().add(server);
            }
        }
        while (!outstanding.isEmpty() && outstanding.peek().acks().size() >= Config.MAJORITY) {
            Txn txn = outstanding.remove().txn();
            recent.add(txn);
            if (recent.size() > RECENT) {
                recent.remove();
            }
            learners.forEach(learner -> learner.send(Message.of(Message.Type.COMMIT, txn.zxid())));
            commit.add(txn);
        }
    }

    /** From here on the learner gets everything; first what its snapshot of the tree at `seen` may lack. */
    synchronized void add(LearnerHandler learner, long seen) throws IOException {
        for (Txn txn : new ArrayList<>(recent)) {
            if (txn.zxid() > seen) {
                learner.send(new Message(Message.Type.PROPOSE, txn.zxid(), txn.toBytes()));
                learner.send(Message.of(Message.Type.COMMIT, txn.zxid()));
            }
        }
        for (Proposal proposal : outstanding) {
            learner.send(new Message(Message.Type.PROPOSE, proposal.txn().zxid(), proposal.txn().toBytes()));
        }
        learner.send(Message.of(Message.Type.UPTODATE, zxid >>> 32));
        learners.add(learner);
    }

    void remove(LearnerHandler learner) {
        learners.remove(learner);
    }
}
