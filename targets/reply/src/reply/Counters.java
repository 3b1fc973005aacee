package reply;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The highest value of each counter, a file each. To raise one twice does no harm. */
final class Counters {
    private final Path directory;

    Counters(Path data) throws IOException {
        this.directory = Files.createDirectories(data);
    }

    /** Raises a counter to a value, as in {@code hits 7}, and returns its value. */
    synchronized String raise(String request) throws IOException {
        String[] words = request.split(" ");
        Path path = directory.resolve(words[0]);
        long value = Math.max(read(path), Long.parseLong(words[1]));
        Path next = directory.resolve(words[0] + ".tmp");
        Files.writeString(next, Long.toString(value));
        Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        return Long.toString(value);
    }

    private static long read(Path path) throws IOException {
        try {
            return Long.parseLong(Files.readString(path));
        } catch (NoSuchFileException e) {
            return 0;
        }
    }
}
