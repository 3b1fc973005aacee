package quorum;

import java.io.IOException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.logging.Logger;

/**
 * The state of one server: the tree in memory, and log and snapshots on disk. A transaction is first logged, and
 * applied once it is committed; what is logged and not yet applied is kept in order.
 */
final class Store {
    private static final Logger LOG = Logger.getLogger(Store.class.getName());

    private final TxnLog log;
    private final SnapshotStore snapshots;
    private final ConcurrentSkipListMap<Long, Txn> logged = new ConcurrentSkipListMap<>();
    private volatile DataTree tree;
    private volatile long lastLogged;

    Store(Config config) throws IOException {
        log = new TxnLog(config.data.resolve("txn"));
        snapshots = new SnapshotStore(config.data.resolve("snap"));
        tree = snapshots.load();
        logged.putAll(log.read());
        logged.headMap(tree.zxid() + 1).clear();
        lastLogged = logged.isEmpty() ? tree.zxid() : logged.lastKey();
        LOG.info(String.format("recovered up to 0x%x, %d nodes, %d to apply", lastLogged, tree.size(), logged.size()));
    }

    DataTree tree() {
        return tree;
    }

    TxnLog log() {
        return log;
    }

    SnapshotStore snapshots() {
        return snapshots;
    }

    long lastLogged() {
        return lastLogged;
    }

    void remember(Txn txn) {
        logged.put(txn.zxid(), txn);
        lastLogged = txn.zxid();
    }

    /** Returns nothing for a transaction that the tree already has. */
    synchronized DataTree.Result apply(Txn txn) {
        logged.remove(txn.zxid());
        return txn.zxid() <= tree.zxid() ? null : tree.apply(txn);
    }

    /** A new leader has been chosen for the longest log, and stands by all of it. */
    synchronized void applyLogged() {
        for (Txn txn : logged.values()) {
            if (txn.zxid() > tree.zxid()) {
                tree.apply(txn);
            }
        }
        logged.clear();
    }

    /** Takes over the leader's tree. On disk the snapshot comes first: a crash in between must not lose both. */
    void install(DataTree received) throws IOException {
        snapshots.save(received);
        log.clear();
        replace(received);
    }

    private synchronized void replace(DataTree received) {
        logged.clear();
        tree = received;
        lastLogged = received.zxid();
    }
}
