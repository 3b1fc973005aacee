package chatter;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** All posts, a line each, appended before they are shown. A start writes the file anew, without a line that was cut short. */
final class Journal implements Closeable {
    private final List<Post> posts = new ArrayList<>();
    private final OutputStream out;

    Journal(Path directory) throws IOException {
        Path path = directory.resolve("journal");
        Path whole = directory.resolve("journal.tmp");
        String text = read(path);
        text = text.substring(0, text.lastIndexOf('\n') + 1);
        text.lines().map(Post::parse).forEach(posts::add);
        Files.writeString(whole, text);
        Files.move(whole, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        this.out = Files.newOutputStream(path, StandardOpenOption.APPEND);
    }

    private static String read(Path path) throws IOException {
        try {
            return Files.readString(path);
        } catch (NoSuchFileException e) {
            return "";
        }
    }

    /** The posts of earlier starts. */
    List<Post> posts() {
        return posts;
    }

    synchronized void append(Post post) throws IOException {
        out.write((post.line() + "\n").getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public synchronized void close() throws IOException {
        out.close();
    }
}
