package ledger;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Writes what a branch holds to a file now and then, for those who look at it from outside. */
final class Statement implements Runnable {
    private static final Logger LOG = Logger.getLogger(Statement.class.getName());
    private static final long PERIOD_MS = 200;

    private final Accounts accounts;
    private final Path directory;

    Statement(Accounts accounts, Path directory) {
        this.accounts = accounts;
        this.directory = directory;
    }

    @Override
    public void run() {
        try {
            while (true) {
                try {
                    write();
                } catch (IOException e) {
                    LOG.log(Level.WARNING, "no statement this time", e);
                }
                Thread.sleep(PERIOD_MS);
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
    }

    private void write() throws IOException {
        Path draft = directory.resolve("statement.draft");
        Files.writeString(draft, "total " + accounts.total() + "\n");
        Files.move(draft, directory.resolve("statement"), StandardCopyOption.REPLACE_EXISTING);
    }
}
