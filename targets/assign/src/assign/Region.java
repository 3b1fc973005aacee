package assign;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A part of the data: a file to which lines are appended. */
final class Region {
    private final Path path;

    Region(Path directory, String name) throws IOException {
        this.path = Files.createDirectories(directory).resolve(name);
        Files.writeString(path, "", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    synchronized String put(String line) throws IOException {
        Files.writeString(path, line + "\n", StandardOpenOption.APPEND);
        return "OK";
    }

    synchronized String get() throws IOException {
        return Files.readString(path);
    }
}
