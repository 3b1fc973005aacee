package outbox;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** One file of messages, a line each. */
final class Segment implements Closeable {
    private final int number;
    private final FileChannel channel;
    private int messages;

    private Segment(int number, FileChannel channel) {
        this.number = number;
        this.channel = channel;
    }

    static Segment create(Path directory, int number) throws IOException {
        Path file = directory.resolve("segment-" + number);
        return new Segment(number, FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
    }

    void append(String message) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap((message + "\n").getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
        messages++;
    }

    int number() {
        return number;
    }

    int messages() {
        return messages;
    }

    @Override
    public void close() throws IOException {
        channel.force(true);
        channel.close();
    }
}
