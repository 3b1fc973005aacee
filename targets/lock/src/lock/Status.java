package lock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** How far a process is, for operators: a file that changes as long as the process is alive. */
final class Status {
    private final Path path;
    private final Path next;
    private long beats;

    Status(Path directory, String name) throws IOException {
        Files.createDirectories(directory);
        this.path = directory.resolve(name + ".status");
        this.next = directory.resolve(name + ".status.tmp");
    }

    void beat(int merges) throws IOException {
        Files.writeString(next, "beat " + ++beats + ", " + merges + " merges\n");
        Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
