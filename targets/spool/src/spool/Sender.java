package spool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Takes messages from the directory where they wait, and puts them into the outbox. */
final class Sender implements Runnable {
    private static final Logger LOG = Logger.getLogger(Sender.class.getName());
    private static final int TRIES = 3;
    /** After these there is a checkpoint: at the fifth message three have been written since the last. */
    private static final Set<Integer> CHECKPOINTS = Set.of(1, 5);

    private final Path waiting;
    private final Outbox outbox;
    private final int messages;

    Sender(Path waiting, Outbox outbox, int messages) {
        this.waiting = waiting;
        this.outbox = outbox;
        this.messages = messages;
    }

    @Override
    public void run() {
        for (int number = 1; number <= messages; number++) {
            if (!send(number)) {
                LOG.severe("message " + number + " is lost");
            }
            if (CHECKPOINTS.contains(number)) {
                outbox.checkpoint();
            }
        }
        LOG.info("all messages are done");
    }

    private boolean send(int number) {
        for (int tried = 0; tried < TRIES; tried++) {
            try {
                outbox.append(Files.readString(waiting.resolve("message." + number)));
                LOG.info("message " + number + " is sent");
                return true;
            } catch (IOException e) {
                LOG.log(Level.WARNING, "message " + number + " has to wait", e);
            }
        }
        return false;
    }
}
