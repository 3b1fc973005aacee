package notes;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** Lines in a file, each of them on the disk before {@link #add} returns. */
public final class Notebook implements AutoCloseable {
    private final Path file;
    private final FileChannel channel;

    public Notebook(Path file) throws IOException {
        this.file = file;
        this.channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.APPEND);
    }

    public void add(String line) throws IOException {
        ByteBuffer bytes = StandardCharsets.UTF_8.encode(line + "\n");
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
        channel.force(true);
    }

    public List<String> lines() throws IOException {
        return Files.readAllLines(file);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
