package quorum;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.LongConsumer;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Makes transactions durable, several with one force, and acknowledges them after it. */
final class SyncThread extends Thread {
    private static final Logger LOG = Logger.getLogger(SyncThread.class.getName());
    private static final int BATCH = 50;
    private static final int ROLL_AFTER = 60;

    /** A transaction and whom to tell that it is on disk. */
    private record Entry(Txn txn, LongConsumer ack) {}

    private final Store store;
    private final BlockingQueue<Entry> queue = new LinkedBlockingQueue<>();
    private final List<Entry> toForce = new ArrayList<>();
    private int inFile;

    SyncThread(Store store) {
        super("SyncThread");
        setDaemon(true);
        this.store = store;
    }

    void add(Txn txn, LongConsumer ack) {
        queue.add(new Entry(txn, ack));
    }

    @Override
    public void run() {
        try {
            while (true) {
                toForce.add(queue.take());
                queue.drainTo(toForce, BATCH);
                for (Entry entry : toForce) {
                    append(entry.txn());
                }
                store.log().force();
                for (Entry entry : toForce) {
                    entry.ack().accept(entry.txn().zxid());
                }
                toForce.clear();
            }
        } catch (IOException e) {
            // A server that cannot keep its promise to the others must not go on: they do without it.
            LOG.log(Level.SEVERE, "Severe unrecoverable error: cannot write the transaction log, exiting", e);
            Runtime.getRuntime().halt(12);
        } catch (InterruptedException e) {
            LOG.info("sync thread interrupted, " + queue.size() + " transactions unwritten");
        }
    }

    private void append(Txn txn) throws IOException {
        if (inFile++ >= ROLL_AFTER) {
            store.log().force();
            store.log().roll();
            inFile = 0;
        }
        store.log().append(txn);
    }
}
