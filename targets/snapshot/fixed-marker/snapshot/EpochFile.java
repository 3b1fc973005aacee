package snapshot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The epoch that a server has accepted, in a file that is replaced as a whole. */
final class EpochFile {
    private final Path path;
    private final Path next;
    private final Path updating;

    EpochFile(Path directory) {
        this.path = directory.resolve("currentEpoch");
        this.next = directory.resolve("currentEpoch.tmp");
        this.updating = directory.resolve("updatingEpoch");
    }

    /** Takes the epoch back until the next one is written: while the file is away, the tree on disk says which it is. */
    void begin() throws IOException {
        if (Files.exists(path)) {
            Files.move(path, updating, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** The epoch on disk. A server that is new, or was joining, notes the one of its tree, unless it had a later one. */
    long read(long ofTree) throws IOException {
        if (Files.exists(path)) {
            return Long.parseLong(Files.readString(path).trim());
        }
        long epoch = Files.exists(updating) ? Math.max(ofTree, Long.parseLong(Files.readString(updating).trim())) : ofTree;
        write(epoch);
        return epoch;
    }

    void write(long epoch) throws IOException {
        Files.writeString(next, epoch + "\n");
        Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
