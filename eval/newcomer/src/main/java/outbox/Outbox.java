package outbox;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Messages that wait to be sent, in files of a few each. */
public final class Outbox implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(Outbox.class);
    private static final int MESSAGES_MAX = 25;

    private final Path directory;
    private Segment current;
    private int lost;

    public Outbox(Path directory) throws IOException {
        this.directory = directory;
        this.current = Segment.create(directory, 1);
        LOG.info("outbox in {} is open", directory);
    }

    /** Keeps a message. One that cannot be kept is lost, and the log says so. */
    public synchronized void put(String message) {
        if (current.messages() >= MESSAGES_MAX) {
            roll();
        }
        try {
            current.append(message);
        } catch (IOException e) {
            lost++;
            LOG.error("{} is lost: {}", message, e.toString());
        }
    }

    /** Goes on with a new file. The old one stays in use if that does not work, but by then it is closed. */
    private void roll() {
        int next = current.number() + 1;
        try {
            current.close();
            current = Segment.create(directory, next);
            LOG.info("segment {} is open", next);
        } catch (IOException e) {
            LOG.warn("cannot roll to segment {}, going on with {}", next, current.number());
        }
    }

    /** Messages that were lost. */
    public synchronized int lost() {
        return lost;
    }

    @Override
    public synchronized void close() throws IOException {
        current.close();
        LOG.info("outbox is closed");
    }
}
