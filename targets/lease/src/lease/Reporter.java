package lease;

import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Sends figures to a collector, which may be away for days; then it tries ever more seldom. */
final class Reporter implements Runnable {
    private static final Logger LOG = Logger.getLogger(Reporter.class.getName());
    private static final long FIRST_PAUSE_MS = 100;
    private static final long LAST_PAUSE_MS = 1600;

    private final String name;
    private final int collectorPort;

    Reporter(String name, int collectorPort) {
        this.name = name;
        this.collectorPort = collectorPort;
    }

    @Override
    public void run() {
        long pauseMs = FIRST_PAUSE_MS;
        try {
            while (true) {
                try (Connection collector = new Connection(collectorPort, name)) {
                    collector.out().writeLong(Runtime.getRuntime().totalMemory());
                    collector.out().flush();
                    pauseMs = FIRST_PAUSE_MS;
                } catch (IOException e) {
                    LOG.log(Level.WARNING, "cannot report to the collector, waiting " + pauseMs + " ms", e);
                    pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS);
                }
                Thread.sleep(pauseMs);
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
    }
}
