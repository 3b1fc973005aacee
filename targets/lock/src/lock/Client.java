package lock;

import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The workload: writes segments, and reads a key of each in the end. Exit status 0 only if all of that was done in time. */
public final class Client {
    private static final Logger LOG = Logger.getLogger(Client.class.getName());
    private static final int SEGMENTS = 60;
    private static final int SEGMENTS_PER_STEP = 10;
    private static final long PACE_MS = 50;
    private static final long POLL_MS = 50;
    private static final long LIMIT_MS = 8000;

    private Client() {}

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        try (Connection ingest = new Connection(new Options(args).number("ingest", 7601))) {
            for (int i = 0; i < SEGMENTS; i++) {
                String number = Integer.toString(i);
                eventually("add segment " + i, () -> ingest.call("ADD", number, number + "=value-" + number).equals("OK"));
                if ((i + 1) % SEGMENTS_PER_STEP == 0) {
                    System.out.println("progress " + (i + 1) / SEGMENTS_PER_STEP);
                }
                Thread.sleep(PACE_MS);
            }
            for (int i = 0; i < SEGMENTS; i++) {
                String key = Integer.toString(i);
                eventually("find " + key, () -> ingest.call("GET", key).equals("value-" + key));
            }
            LOG.info("all keys are there");
            System.out.println("progress " + (SEGMENTS / SEGMENTS_PER_STEP + 1));
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "giving up", e);
            System.exit(1);
        }
    }

    private interface Attempt {
        boolean succeeds() throws IOException;
    }

    private static void eventually(String what, Attempt attempt) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + LIMIT_MS * 1_000_000;
        while (true) {
            String why = "another answer";
            try {
                if (attempt.succeeds()) {
                    return;
                }
            } catch (IOException e) {
                why = e.toString();
            }
            if (System.nanoTime() > deadline) {
                throw new IOException("cannot " + what + " in " + LIMIT_MS + " ms: " + why);
            }
            Thread.sleep(POLL_MS);
        }
    }
}
