package chatter;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What a worker did, for people: appended to a file, which is put aside when it is long. */
final class Diary {
    private static final Logger LOG = Logger.getLogger(Diary.class.getName());
    private static final long LONG_BYTES = 400;

    private final Path path;
    private final Path old;

    Diary(Path directory) throws IOException {
        Files.createDirectories(directory);
        this.path = directory.resolve("diary");
        this.old = directory.resolve("diary.1");
        if (Files.exists(path)) {
            LOG.log(Level.INFO, "the diary has {0} bytes", Files.size(path));
        }
    }

    void note(String text) throws IOException {
        Files.writeString(path, text + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        if (Files.size(path) > LONG_BYTES) {
            Files.deleteIfExists(old);
            Files.move(path, old, StandardCopyOption.ATOMIC_MOVE);
        }
    }
}
