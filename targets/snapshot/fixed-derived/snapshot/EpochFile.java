package snapshot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The epoch that a server has accepted, for operators, in a file that is replaced as a whole. */
final class EpochFile {
    private final Path path;
    private final Path next;

    EpochFile(Path directory) {
        this.path = directory.resolve("currentEpoch");
        this.next = directory.resolve("currentEpoch.tmp");
    }

    /** What is noted; that it cannot be read keeps no server from its work. */
    String noted() {
        try {
            return Files.readString(path).trim();
        } catch (IOException e) {
            return "none";
        }
    }

    void write(long epoch) throws IOException {
        Files.writeString(next, epoch + "\n");
        Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
