package quorum;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Deletes old snapshots, and remembers in a file how many it ever deleted. */
final class Purge implements Callable<Integer> {
    private static final Logger LOG = Logger.getLogger(Purge.class.getName());
    private static final int KEEP = 2;

    private final SnapshotStore snapshots;
    private final Path tally;
    private int failures;

    Purge(Config config, Store store) {
        this.snapshots = store.snapshots();
        this.tally = config.data.resolve("purged");
    }

    @Override
    public Integer call() {
        int deleted = 0;
        try {
            List<Path> newestFirst = snapshots.newestFirst();
            for (Path old : newestFirst.subList(Math.min(KEEP, newestFirst.size()), newestFirst.size())) {
                Files.delete(old);
                deleted++;
            }
            Files.writeString(tally, Integer.toString(before() + deleted));
            LOG.info("purge: " + newestFirst.size() + " snapshots, deleted " + deleted);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "purge failed for the " + ++failures + ". time, trying again later", e);
        }
        return deleted;
    }

    private int before() {
        try {
            return Integer.parseInt(Files.readString(tally).trim());
        } catch (IOException | NumberFormatException e) {
            LOG.log(Level.WARNING, "no tally of purged snapshots, counting from 0", e);
            return 0;
        }
    }
}
