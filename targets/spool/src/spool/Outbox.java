package spool;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A file of messages. Those since the last checkpoint are written again, to a new file, when one cannot be written. */
final class Outbox {
    private static final Logger LOG = Logger.getLogger(Outbox.class.getName());
    /** How many messages fit into a new file before its first checkpoint. */
    private static final int AGAIN_MAX = 2;

    private final Path directory;
    private final boolean fixed;
    private final List<String> since = new ArrayList<>();
    private FileChannel channel;
    private int files;
    private boolean broken;

    Outbox(Path directory, boolean fixed) throws IOException {
        this.directory = directory;
        this.fixed = fixed;
        channel = open();
    }

    private FileChannel open() throws IOException {
        Path file = directory.resolve("outbox." + ++files);
        LOG.info("writing to file " + files);
        return FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    }

    void append(String message) throws IOException {
        if (broken) {
            throw new IOException("the outbox takes no message any more");
        }
        try {
            channel.write(bytes(message)); // site: append
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot write a message, trying a new file", e);
            again();
            channel.write(bytes(message));
        }
        since.add(message);
    }

    private void again() throws IOException {
        if (since.size() > AGAIN_MAX) {
            LOG.warning("too many messages since the last checkpoint");
            if (!fixed) {
                // The file could be given a checkpoint in between; instead nothing is ever written again.
                broken = true;
                throw new IOException("the outbox is full");
            }
        }
        channel.close();
        channel = open();
        for (String message : since) {
            channel.write(bytes(message));
        }
    }

    void checkpoint() {
        try {
            channel.force(false); // site: force
            since.clear();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "no checkpoint this time", e);
        }
    }

    private static ByteBuffer bytes(String message) {
        return ByteBuffer.wrap((message + "\n").getBytes(StandardCharsets.UTF_8));
    }
}
