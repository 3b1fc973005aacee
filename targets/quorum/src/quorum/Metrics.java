package quorum;

import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.zip.GZIPOutputStream;

/** Publishes a few figures in a file, and keeps the older ones packed in memory. Nothing depends on it. */
final class Metrics implements Runnable {
    private static final Logger LOG = Logger.getLogger(Metrics.class.getName());
    private static final int EVERY_MS = 400;
    private static final int MAX_HISTORY = 1 << 16;

    private final Path file;
    private final Store store;
    private final Requests requests;
    private ByteArrayOutputStream history = new ByteArrayOutputStream();
    private int published;

    Metrics(Config config, Store store, Requests requests) {
        this.file = config.data.resolve("metrics").resolve("current");
        this.store = store;
        this.requests = requests;
    }

    @Override
    public void run() {
        while (!Thread.currentThread().isInterrupted()) {
            try {
                Thread.sleep(EVERY_MS);
                String line = "nodes " + store.tree().size() + " waiting " + requests.size() + "\n";
                publish(line);
                remember(line);
            } catch (IOException e) {
                LOG.log(Level.WARNING, "metrics not published, " + published + " were", e);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void publish(String line) throws IOException {
        try {
            write(line);
        } catch (NoSuchFileException e) {
            LOG.log(Level.WARNING, "metrics directory is missing, making it", e);
            Files.createDirectories(file.getParent());
            write(line);
        }
        published++;
    }

    private void write(String line) throws IOException {
        Path unfinished = file.resolveSibling("next");
        try (BufferedWriter out = Files.newBufferedWriter(unfinished)) {
            out.write(line);
        }
        Files.move(unfinished, file, StandardCopyOption.REPLACE_EXISTING);
    }

    private void remember(String line) throws IOException {
        if (history.size() > MAX_HISTORY) {
            history = new ByteArrayOutputStream();
        }
        try (GZIPOutputStream packed = new GZIPOutputStream(history)) {
            packed.write(line.getBytes(StandardCharsets.UTF_8));
        }
    }
}
