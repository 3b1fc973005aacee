package wal;

import java.io.FileNotFoundException;
import java.io.FileReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Properties;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What an operator may change while the server runs, from a file that is read again and again and need not exist. */
final class Settings implements Runnable {
    private static final Logger LOG = Logger.getLogger(Settings.class.getName());
    private static final long PERIOD_MS = 500;

    private final Path file;
    private volatile long syncTimeoutMs = 2000;

    Settings(Path file) {
        this.file = file;
    }

    /** How long a writer waits until its edit is safe. */
    long syncTimeoutMs() {
        return syncTimeoutMs;
    }

    @Override
    public void run() {
        try {
            while (true) {
                try {
                    load();
                } catch (FileNotFoundException e) {
                    LOG.log(Level.INFO, "no settings, keeping the defaults: {0}", e.getMessage());
                } catch (IOException | NumberFormatException e) {
                    LOG.log(Level.WARNING, "cannot read the settings, keeping the old ones", e);
                }
                Thread.sleep(PERIOD_MS);
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
    }

    private void load() throws IOException {
        Properties properties = new Properties();
        try (FileReader reader = new FileReader(file.toFile())) {
            properties.load(reader);
        }
        syncTimeoutMs = Long.parseLong(properties.getProperty("sync.timeout.ms", Long.toString(syncTimeoutMs)));
    }
}
