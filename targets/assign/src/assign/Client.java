package assign;

import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The workload: puts a line into each region, round after round, wherever it is. Exit status 0 only if all are there in the end. */
public final class Client {
    private static final Logger LOG = Logger.getLogger(Client.class.getName());
    private static final int REGIONS = 12;
    private static final int ROUNDS = 5;
    private static final long PACE_MS = 30;
    private static final long POLL_MS = 50;
    private static final long LIMIT_MS = 8000;

    private final Connection master;

    private Client(Connection master) {
        this.master = master;
    }

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        try (Connection master = new Connection(new Options(args).number("master", 7801))) {
            Client client = new Client(master);
            for (int round = 1; round <= ROUNDS; round++) {
                client.round(round);
                System.out.println("progress " + round);
            }
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "giving up", e);
            System.exit(1);
        }
    }

    private void round(int round) throws IOException, InterruptedException {
        for (int i = 0; i < REGIONS; i++) {
            String region = "region-" + i;
            String line = "line " + round;
            eventually("put into " + region, () -> at(region, "PUT", region, line).equals("OK"));
            eventually("find in " + region, () -> at(region, "GET", region).lines().anyMatch(line::equals));
            Thread.sleep(PACE_MS);
        }
    }

    /** A call at the server that has the region. */
    private String at(String region, String... words) throws IOException {
        String port = master.call(region);
        if (port.isEmpty()) {
            throw new IOException(region + " is nowhere");
        }
        try (Connection server = new Connection(Integer.parseInt(port))) {
            return server.call(words);
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
