package shards;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What happened in the cell, in a file. A line that cannot be written is only logged. */
final class AuditLog implements Closeable {
    private static final Logger LOG = Logger.getLogger(AuditLog.class.getName());

    private final Path path;

    AuditLog() throws IOException {
        path = Files.createTempFile("shards-", ".audit");
    }

    void write(String line) {
        try {
            Files.write(path, List.of(line), StandardOpenOption.APPEND);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "not written: " + line, e);
        }
    }

    List<String> lines() throws IOException {
        return Files.readAllLines(path);
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(path);
    }
}
