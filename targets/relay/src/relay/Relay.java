package relay;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.logging.Logger;

/**
 * {@code Relay DIR [unlucky]}: puts batches into an outbox, or into a spare where that fails. A failed write to the outbox is nearly
 * harmless and looks almost like the failure; the third is the failure, because the spare is being compacted. Every other step is
 * retried. Nothing is logged between two batches, so no log tells which batch it was. If unlucky, the third write fails by itself.
 */
public final class Relay {
    private static final Logger LOG = Logger.getLogger(Relay.class.getName());
    private static final int BATCHES = 8;

    private final Path directory;

    private Relay(Path directory) {
        this.directory = directory;
    }

    public static void main(String[] args) throws Exception {
        Relay relay = new Relay(Files.createDirectories(Path.of(args[0], "relay")));
        if (args.length > 1 && args[1].equals("unlucky")) {
            Files.createDirectory(relay.outbox(Compaction.BATCH));
        }
        LOG.info("taking batches");
        for (int batch = 1; batch <= BATCHES; batch++) {
            relay.deliver(batch);
        }
        LOG.info("ending");
    }

    private void deliver(int batch) {
        try {
            inspect();
        } catch (IOException e) {
            LOG.warning("the volume answers late");
        }
        try {
            put(batch);
            seal(batch);
        } catch (IOException e) {
            LOG.severe("batch " + batch + " is lost");
        }
    }

    private void inspect() throws IOException {
        Files.getLastModifiedTime(directory);
        Files.isSameFile(directory, directory);
        Files.getFileStore(directory).getUsableSpace();
    }

    private void put(int batch) throws IOException {
        try {
            Files.writeString(outbox(batch), "batch " + batch); // site: put
        } catch (IOException e) {
            LOG.warning("the volume answers late");
            LOG.warning("the outbox is closed for batch " + batch);
            spare(batch);
        }
    }

    private void spare(int batch) throws IOException {
        LOG.warning("batch " + batch + " goes to the spare");
        Compaction.admit(batch);
        try {
            Files.writeString(outbox(batch), "batch " + batch);
        } catch (IOException e) {
            Files.writeString(outbox(batch), "batch " + batch);
        }
        LOG.info("batch " + batch + " is in the spare");
    }

    /** Each step is taken once more if it fails, and only then the batch is lost. */
    private void seal(int batch) throws IOException {
        Path sealed = directory.resolve("sealed." + batch);
        try {
            Files.setLastModifiedTime(outbox(batch), FileTime.fromMillis(batch));
        } catch (IOException e) {
            again(batch, e);
        }
        try {
            Files.copy(outbox(batch), sealed, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            again(batch, e);
        }
        try {
            Files.writeString(directory.resolve("index"), "batch " + batch, StandardOpenOption.CREATE);
        } catch (IOException e) {
            again(batch, e);
        }
        try {
            Files.readAllBytes(outbox(batch));
        } catch (IOException e) {
            again(batch, e);
        }
        try {
            Files.size(outbox(batch));
        } catch (IOException e) {
            again(batch, e);
        }
        try {
            Files.deleteIfExists(directory.resolve("open." + batch));
        } catch (IOException e) {
            again(batch, e);
        }
        try {
            Files.createDirectories(directory.resolve("done"));
        } catch (IOException e) {
            again(batch, e);
        }
        try {
            Files.readAllLines(outbox(batch));
        } catch (IOException e) {
            again(batch, e);
        }
    }

    private void again(int batch, IOException first) throws IOException {
        if (!Files.isDirectory(directory)) {
            throw first;
        }
        Files.copy(outbox(batch), directory.resolve("sealed." + batch), StandardCopyOption.REPLACE_EXISTING);
    }

    private Path outbox(int batch) {
        return directory.resolve("outbox." + batch);
    }
}
