package quorum;

import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Writes a snapshot when it is asked to, beside the work on requests. A snapshot that fails is not missed. */
final class SnapshotThread extends Thread {
    enum State { IDLE, WRITING }

    private static final Logger LOG = Logger.getLogger(SnapshotThread.class.getName());

    private final Store store;
    private final Semaphore asked = new Semaphore(0);
    private volatile State state = State.IDLE;
    private int written;
    private int failed;

    SnapshotThread(Store store) {
        super("Snapshot");
        setDaemon(true);
        this.store = store;
    }

    void ask() {
        if (state == State.WRITING) {
            LOG.warning("too busy to snap, skipping this one");
            return;
        }
        asked.release();
    }

    @Override
    public void run() {
        while (!isInterrupted()) {
            try {
                asked.acquire();
                state = State.WRITING;
                store.snapshots().save(store.tree());
                written++;
            } catch (IOException e) {
                failed++;
                LOG.log(Level.WARNING, "snapshot failed (" + failed + " of " + (written + failed) + ")", e);
            } catch (InterruptedException e) {
                return;
            } finally {
                state = State.IDLE;
            }
        }
    }
}
