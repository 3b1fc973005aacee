package spool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * {@code Main DIR [fixed]}: six messages are stored in a directory and sent by another thread. One error at the right
 * moment, and no message is sent any more; not so if it is fixed.
 */
public final class Main {
    private static final Logger LOG = Logger.getLogger(Main.class.getName());
    private static final int MESSAGES = 6;

    private Main() {}

    public static void main(String[] args) throws Exception {
        Logging.install();
        Path directory = Files.createDirectories(Path.of(args[0], "spool"));
        boolean fixed = args.length > 1 && args[1].equals("fixed");
        LOG.info("storing " + MESSAGES + " messages");
        for (int number = 1; number <= MESSAGES; number++) {
            store(directory, number);
        }
        Sender sender = new Sender(directory, new Outbox(directory, fixed), MESSAGES);
        Thread thread = new Thread(sender, System.getProperty("spool.sender", "Sender"));
        thread.start();
        thread.join();
        LOG.info("ending");
    }

    private static void store(Path directory, int number) throws IOException {
        Path file = directory.resolve("message." + number);
        try {
            Files.writeString(file, "message " + number);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot store message " + number + ", once more", e);
            Files.writeString(file, "message " + number);
        }
    }
}
