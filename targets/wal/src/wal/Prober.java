package wal;

import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A reader beside the writer, on connections of its own, which it drops as careless clients do. */
final class Prober implements Runnable {
    private static final Logger LOG = Logger.getLogger(Prober.class.getName());
    private static final int READS_PER_CONNECTION = 30;

    private final int port;
    private final long periodMs;

    Prober(int port, long periodMs) {
        this.port = port;
        this.periodMs = periodMs;
    }

    @Override
    public void run() {
        try {
            for (int read = 0; ; read += READS_PER_CONNECTION) {
                try (Connection connection = new Connection(port)) {
                    for (int i = 0; i < READS_PER_CONNECTION; i++) {
                        connection.call("GET", Client.key(read + i));
                        Thread.sleep(periodMs);
                    }
                    // Goes away without reading the answer.
                    connection.send("GET", Client.key(read));
                } catch (IOException e) {
                    LOG.log(Level.WARNING, "read failed, connecting again", e);
                    Thread.sleep(periodMs);
                }
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
    }
}
