package journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** An append-only file. A record is durable once append has returned. */
final class Journal {
    private static final Logger LOG = Logger.getLogger(Journal.class.getName());

    private final Path file;
    private final FileChannel channel;
    private boolean failed;

    Journal(Path file) throws IOException {
        this.file = file;
        this.channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    synchronized void append(String record) throws IOException {
        if (failed) {
            throw new IOException("journal is closed after an earlier error");
        }
        ByteBuffer bytes = ByteBuffer.wrap((record + "\n").getBytes(StandardCharsets.UTF_8));
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(false);
        } catch (IOException e) {
            // One error that would have passed, and the journal never takes a record again.
            failed = true;
            LOG.log(Level.SEVERE, "cannot make a record durable, closing the journal", e);
            throw e;
        }
    }

    synchronized List<String> records() throws IOException {
        return Files.readAllLines(file);
    }
}
