package reply;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The workload: raises several counters side by side. Exit status 0 only if every request is answered in time. */
public final class Client {
    private static final Logger LOG = Logger.getLogger(Client.class.getName());
    private static final int COUNTERS = 3;
    private static final int ROUNDS = 60;
    private static final int ROUNDS_PER_STEP = 10;
    private static final long PACE_MS = 40;
    private static final long LIMIT_MS = 8000;

    private Client() {}

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        int port = new Options(args).number("gateway", 7861);
        ExecutorService executor = Executors.newFixedThreadPool(COUNTERS);
        List<Connection> gateways = new ArrayList<>();
        for (int i = 0; i < COUNTERS; i++) {
            gateways.add(new Connection(port));
        }
        try {
            for (int round = 1; round <= ROUNDS; round++) {
                List<Callable<Void>> work = new ArrayList<>();
                for (int i = 0; i < COUNTERS; i++) {
                    String counter = "counter-" + i;
                    Connection gateway = gateways.get(i);
                    String value = Integer.toString(round);
                    work.add(() -> raise(gateway, counter, value));
                }
                for (Future<Void> ended : executor.invokeAll(work)) {
                    ended.get();
                }
                if (round % ROUNDS_PER_STEP == 0) {
                    System.out.println("progress " + round / ROUNDS_PER_STEP);
                }
                Thread.sleep(PACE_MS);
            }
            LOG.info("all counters are raised");
            System.exit(0);
        } catch (ExecutionException e) {
            LOG.log(Level.SEVERE, "giving up", e.getCause());
            System.exit(1);
        }
    }

    private static Void raise(Connection gateway, String counter, String value) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + LIMIT_MS * 1_000_000;
        while (true) {
            try {
                if (gateway.call(counter + " " + value).equals(value)) {
                    return null;
                }
            } catch (IOException e) {
                LOG.log(Level.INFO, "no answer: {0}", e.toString());
            }
            if (System.nanoTime() > deadline) {
                throw new IOException(counter + " is not raised in " + LIMIT_MS + " ms");
            }
            Thread.sleep(PACE_MS);
        }
    }
}
