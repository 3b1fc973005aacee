package snapshot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The epoch that a server has accepted, in a file that is replaced as a whole. */
final class EpochFile {
    private final Path path;
    private final Path next;

    EpochFile(Path directory) {
        this.path = directory.resolve("currentEpoch");
        this.next = directory.resolve("currentEpoch.tmp");
    }

    /** The epoch on disk. A server that is new notes the one that it begins with. */
    String read(long otherwise) throws IOException {
        try {
            return Files.readString(path).trim();
        } catch (NoSuchFileException e) {
            write(otherwise);
            return Long.toString(otherwise);
        }
    }

    void write(long epoch) throws IOException {
        Files.writeString(next, epoch + "\n");
        Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
