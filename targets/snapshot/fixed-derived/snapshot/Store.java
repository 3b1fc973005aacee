package snapshot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What a server knows, in memory and on disk. */
final class Store {
    private static final Logger LOG = Logger.getLogger(Store.class.getName());

    private final Snapshots snapshots;
    private final EpochFile epochFile;
    private final TxnLog log;
    private Tree tree;
    private long epoch;

    Store(Path directory) throws IOException {
        Files.createDirectories(directory);
        this.snapshots = new Snapshots(directory);
        this.epochFile = new EpochFile(directory);
        this.log = new TxnLog(directory);
        this.tree = snapshots.load();
        for (Txn txn : log.after(tree.zxid())) {
            tree.apply(txn);
        }
        this.epoch = loadEpoch();
        LOG.log(Level.INFO, "loaded up to {0} in epoch {1}", new Object[] {Long.toHexString(tree.zxid()), epoch});
    }

    /** The epoch of the last change. The file is for operators. */
    private long loadEpoch() {
        LOG.log(Level.INFO, "the epoch that was noted is {0}", epochFile.noted());
        return Txn.epochOf(tree.zxid());
    }

    synchronized Tree tree() {
        return tree;
    }

    synchronized long epoch() {
        return epoch;
    }

    /** Accepts a leader whose changes continue those that are here. */
    synchronized void accept(long newEpoch) throws IOException {
        if (newEpoch != epoch) {
            epochFile.write(newEpoch);
            epoch = newEpoch;
        }
    }

    /** Accepts a leader that has sent its whole tree. */
    synchronized void acceptTree(Tree newTree, long newEpoch) throws IOException {
        snapshots.save(newTree);
        accept(newEpoch);
        tree = newTree;
    }

    synchronized void change(Txn txn) throws IOException {
        log.append(txn);
        tree.apply(txn);
    }

    synchronized void takeSnapshot() throws IOException {
        snapshots.save(tree);
    }
}
