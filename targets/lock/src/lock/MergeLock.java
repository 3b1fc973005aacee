package lock;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The right to merge a partition: a file that only one can create. */
final class MergeLock {
    private final Path path;
    private final String owner;

    MergeLock(Partition partition, String owner) {
        this.path = partition.directory().resolve("lock");
        this.owner = owner;
    }

    /** Tests whether it is ours now. */
    boolean take() throws IOException {
        try {
            Files.createFile(path);
        } catch (FileAlreadyExistsException e) {
            return false;
        }
        // For operators.
        Files.writeString(path, owner);
        return true;
    }

    void release() throws IOException {
        Files.delete(path);
    }
}
