package custom;

import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The workload: has all ranges compared, round after round. Exit status 0 only if each comparison ends in time, and well. */
public final class Client {
    private static final Logger LOG = Logger.getLogger(Client.class.getName());
    private static final int RANGES = 8;
    private static final int ROUNDS = 5;
    private static final long PACE_MS = 50;
    private static final long LIMIT_MS = 8000;

    private Client() {}

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        try (Connection coordinator = new Connection(new Options(args).number("coordinator", 7870))) {
            for (int round = 1; round <= ROUNDS; round++) {
                for (int i = 0; i < RANGES; i++) {
                    compare(coordinator, "range-" + i + "@" + round);
                    Thread.sleep(PACE_MS);
                }
                System.out.println("progress " + round);
            }
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "giving up", e);
            System.exit(1);
        }
    }

    private static void compare(Connection coordinator, String range) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + LIMIT_MS * 1_000_000;
        while (true) {
            try {
                if (coordinator.call(range).equals("SAME")) {
                    return;
                }
            } catch (IOException e) {
                LOG.log(Level.INFO, "no answer: {0}", e.toString());
            }
            if (System.nanoTime() > deadline) {
                throw new IOException(range + " is not compared in " + LIMIT_MS + " ms");
            }
            Thread.sleep(PACE_MS);
        }
    }
}
