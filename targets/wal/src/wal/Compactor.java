package wal;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Merges the store files into one when there are many. Whatever goes wrong, the old files are still there. */
final class Compactor implements Runnable {
    private static final Logger LOG = Logger.getLogger(Compactor.class.getName());
    private static final int MANY = 3;

    private final Region region;
    private boolean requested;

    Compactor(Region region) {
        this.region = region;
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
                List<StoreFile> files = region.files();
                if (files.size() < MANY) {
                    continue;
                }
                try {
                    compact(files);
                } catch (IOException e) {
                    LOG.log(Level.WARNING, "compaction of " + files.size() + " files failed, keeping them", e);
                }
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
    }

    private void compact(List<StoreFile> newestFirst) throws IOException {
        SortedMap<String, String> cells = new TreeMap<>();
        for (int i = newestFirst.size() - 1; i >= 0; i--) {
            cells.putAll(newestFirst.get(i).read());
        }
        StoreFile merged = StoreFile.write(region.nextPath(), cells);
        region.replace(newestFirst, merged);
        for (StoreFile old : newestFirst) {
            try {
                Files.delete(old.path());
            } catch (IOException e) {
                LOG.log(Level.WARNING, "cannot delete compacted " + old.path().getFileName(), e);
            }
        }
        LOG.log(Level.INFO, "compacted {0} files to {1}",
                new Object[] {newestFirst.size(), merged.path().getFileName()});
    }
}
