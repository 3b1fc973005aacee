package snapshot;

import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The workload: {@code write} sets keys at the leader, {@code audit} waits until every server has all of them. Exit status 0
 * only if that was so in time.
 */
public final class Client {
    private static final Logger LOG = Logger.getLogger(Client.class.getName());
    private static final int KEYS = 120;
    private static final int KEYS_PER_STEP = 20;
    private static final long PACE_MS = 20;
    private static final long POLL_MS = 50;
    private static final long LIMIT_MS = 20_000;

    private Client() {}

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        try {
            if (args[0].equals("write")) {
                write(Integer.parseInt(args[1]));
            } else {
                for (int i = 1; i < args.length; i++) {
                    audit(Integer.parseInt(args[i]));
                    System.out.println("progress " + i);
                }
            }
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "giving up", e);
            System.exit(1);
        }
    }

    private static void write(int port) throws IOException, InterruptedException {
        try (Connection leader = new Connection(port)) {
            for (int i = 1; i <= KEYS; i++) {
                String key = "key-" + i;
                String value = "value-" + i;
                eventually("set " + key, () -> leader.call("SET", key, value).equals("OK"));
                if (i % KEYS_PER_STEP == 0) {
                    System.out.println("progress " + i / KEYS_PER_STEP);
                }
                Thread.sleep(PACE_MS);
            }
        }
    }

    private static void audit(int port) throws IOException, InterruptedException {
        try (Connection server = new Connection(port)) {
            for (int i = 1; i <= KEYS; i++) {
                String key = "key-" + i;
                String value = "value-" + i;
                eventually("find " + key + " at " + port, () -> server.call("GET", key).equals(value));
            }
        }
        LOG.log(Level.INFO, "the server on port {0} has all keys", Integer.toString(port));
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
