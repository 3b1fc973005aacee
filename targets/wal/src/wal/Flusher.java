package wal;

import java.io.IOException;
import java.util.SortedMap;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Writes the memory of the region to a store file when it is large, between two markers in the log. */
final class Flusher implements Runnable {
    private static final Logger LOG = Logger.getLogger(Flusher.class.getName());
    private static final int ATTEMPTS = 3;

    private final Region region;
    private final WriteAheadLog log;
    private final Compactor compactor;
    private final long syncTimeoutMs;
    private boolean requested;

    Flusher(Region region, WriteAheadLog log, Compactor compactor, long syncTimeoutMs) {
        this.region = region;
        this.log = log;
        this.compactor = compactor;
        this.syncTimeoutMs = syncTimeoutMs;
    }

    synchronized void request() {
        requested = true;
        notifyAll();
    }

    private synchronized void awaitRequest() throws InterruptedException {
        while (!requested) {
            wait();
        }
        requested = false;
    }

    @Override
    public void run() {
        try {
            while (true) {
                awaitRequest();
                for (int attempt = 1; attempt <= ATTEMPTS && !tryFlush(attempt); attempt++) {
                    LOG.log(Level.INFO, "flush attempt {0} was not enough", attempt);
                }
                compactor.request();
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
    }

    private boolean tryFlush(int attempt) {
        SortedMap<String, String> cells = region.beginFlush();
        if (cells.isEmpty()) {
            return true;
        }
        try {
            marker("START_FLUSH");
            StoreFile file = StoreFile.write(region.nextPath(), cells);
            region.endFlush(file);
            LOG.log(Level.INFO, "flushed {0} cells to {1}", new Object[] {cells.size(), file.path().getFileName()});
        } catch (IOException e) {
            LOG.log(Level.WARNING, "flush failed, attempt " + attempt, e);
            return false;
        }
        try {
            marker("COMMIT_FLUSH");
        } catch (IOException e) {
            // The cells are safe in the file; a replay of the log would only put them again.
            LOG.log(Level.WARNING, "flush done, but its end is not in the log", e);
        }
        return true;
    }

    private void marker(String kind) throws IOException {
        try {
            log.append(Edit.MARKER + kind, "").get(syncTimeoutMs);
        } catch (TimeoutIOException e) {
            LOG.log(Level.WARNING, "cannot write flush marker " + kind, e);
            throw e;
        }
    }
}
