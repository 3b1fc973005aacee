package ledger;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What a branch did, on disk before it is done; a new file is begun when one is full. */
final class ChangeLog implements Closeable {
    private static final Logger LOG = Logger.getLogger(ChangeLog.class.getName());
    private static final long FULL_BYTES = 6 << 10;

    private final Path directory;
    private FileChannel channel;
    private int files;

    ChangeLog(Path directory) throws IOException {
        this.directory = Files.createDirectories(directory);
        this.channel = next();
    }

    private FileChannel next() throws IOException {
        Path path = directory.resolve(String.format("changes.%04d", ++files));
        return FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    synchronized void append(String kind, long transfer, String account, long amount) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeUTF(kind);
        out.writeLong(transfer);
        out.writeUTF(account);
        out.writeLong(amount);
        channel.write(ByteBuffer.wrap(bytes.toByteArray()));
        channel.force(false);
        if (channel.size() > FULL_BYTES) {
            roll();
        }
    }

    /** Whatever is written is written: a file that cannot be begun now is begun after the next change. */
    private void roll() {
        try {
            FileChannel old = channel;
            channel = next();
            LOG.log(Level.INFO, "began file {0} of the log", files);
            old.close();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot roll the log, going on with the old file", e);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        channel.close();
    }
}
