package quorum;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Logger;

/** Applies committed transactions in their order, answers those that were asked here, and asks for snapshots. */
final class CommitThread extends Thread {
    private static final Logger LOG = Logger.getLogger(CommitThread.class.getName());

    private final Config config;
    private final Store store;
    private final Requests requests;
    private final SnapshotThread snapshots;
    private final BlockingQueue<Txn> committed = new LinkedBlockingQueue<>();
    private int sinceSnapshot;

    CommitThread(Config config, Store store, Requests requests, SnapshotThread snapshots) {
        super("CommitThread");
        setDaemon(true);
        this.config = config;
        this.store = store;
        this.requests = requests;
        this.snapshots = snapshots;
    }

    void add(Txn txn) {
        committed.add(txn);
    }

    @Override
    public void run() {
        try {
            while (true) {
                Txn txn = committed.take();
                DataTree.Result result = store.apply(txn);
                if (result == null) {
                    LOG.info(String.format("0x%x is in the tree already", txn.zxid()));
                    continue;
                }
                if (txn.origin() == config.id) {
                    requests.complete(txn.request(), result);
                }
                if (++sinceSnapshot >= config.snapshotEvery) {
                    sinceSnapshot = 0;
                    snapshots.ask();
                }
            }
        } catch (InterruptedException e) {
            LOG.info("commit thread interrupted, " + committed.size() + " transactions unapplied");
        }
    }
}
