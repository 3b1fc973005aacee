package sweep;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * {@code Store DIR}: files come in and are swept away in the background. One that cannot be deleted ends the sweeping without a word,
 * since a periodic task is not run again after an exception; from then on files pile up, and some time later nothing is taken any more.
 * Nothing in the code leads from the one to the other: what is left undone shows by what is on the disk.
 */
public final class Store {
    private static final Logger LOG = Logger.getLogger(Store.class.getName());
    private static final int FILES = 240;
    /** Far more than come in between two sweeps, so that on a busy machine too only sweeping that has ended fills it. */
    private static final int BACKLOG_MAX = 80;

    private final Path directory;
    private volatile int backlog;
    private int sweeps;

    private Store(Path directory) {
        this.directory = directory;
    }

    public static void main(String[] args) throws Exception {
        Store store = new Store(Files.createDirectories(Path.of(args[0], "store")));
        ScheduledExecutorService background =
                Executors.newSingleThreadScheduledExecutor(work -> new Thread(work, "sweeper"));
        background.scheduleWithFixedDelay(store::sweep, 10, 10, TimeUnit.MILLISECONDS);
        for (int number = 1; number <= FILES; number++) {
            store.take(number);
            Thread.sleep(2);
        }
        background.shutdownNow();
        LOG.info("ending");
    }

    private void take(int number) {
        try {
            backlog = files().size();
            if (backlog > BACKLOG_MAX) {
                LOG.severe("file " + number + " is rejected");
                return;
            }
            Files.writeString(directory.resolve("file." + number), "x");
        } catch (IOException e) {
            LOG.warning("file " + number + " is not taken");
        }
    }

    private void sweep() {
        try {
            for (Path file : files()) {
                delete(file);
            }
            LOG.info("sweep " + ++sweeps + " is done");
        } catch (IOException e) {
            LOG.warning("cannot look for files, later again");
        }
    }

    private static void delete(Path file) {
        try {
            Files.delete(file); // site: delete
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.collect(Collectors.toList());
        }
    }
}
