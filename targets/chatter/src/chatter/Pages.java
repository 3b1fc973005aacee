package chatter;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The pages that workers write and the board shows, one a topic. A page is replaced as a whole. */
final class Pages {
    private final Path directory;

    Pages(Path data) throws IOException {
        this.directory = Files.createDirectories(data.resolve("pages"));
    }

    void write(int topic, String text) throws IOException {
        Path scratch = Files.createTempFile(directory, "page-", ".tmp");
        Files.writeString(scratch, text);
        Files.move(scratch, path(topic), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    String read(int topic) throws IOException {
        try {
            return Files.readString(path(topic));
        } catch (NoSuchFileException e) {
            return "";
        }
    }

    private Path path(int topic) {
        return directory.resolve("topic-" + topic);
    }
}
