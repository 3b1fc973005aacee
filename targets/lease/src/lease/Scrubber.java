package lease;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Reads a journal now and then, to find rotten disks early. */
final class Scrubber implements Runnable {
    private static final Logger LOG = Logger.getLogger(Scrubber.class.getName());
    private static final long PERIOD_MS = 700;

    private final Path directory;
    private int next;

    Scrubber(Path directory) {
        this.directory = directory;
    }

    @Override
    public void run() {
        try {
            while (true) {
                try {
                    scrub();
                } catch (IOException e) {
                    LOG.log(Level.WARNING, "scrub given up, next one in " + PERIOD_MS + " ms", e);
                }
                Thread.sleep(PERIOD_MS);
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
    }

    private void scrub() throws IOException {
        Path path = Journal.path(directory, next++ % LeaseTable.SHARDS);
        if (Files.exists(path) && Journal.read(path).isEmpty()) {
            LOG.log(Level.WARNING, "nothing readable in {0} yet", path.getFileName());
        }
    }
}
