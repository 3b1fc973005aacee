package ledger;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The workload: tellers order transfers, round after round, and in the end the branches are audited. Exit status 0 only if
 * all tellers got through, and the branches hold together what they held at first.
 */
public final class Client {
    private static final Logger LOG = Logger.getLogger(Client.class.getName());
    private static final int TELLERS = 3;
    private static final int ROUNDS = 5;
    private static final int TRANSFERS_PER_ROUND = 25;
    private static final long SETTLE_MS = 10_000;
    private static final long POLL_MS = 50;
    private static final int ATTEMPTS = 4;

    private final int brokerPort;
    private final int[] branchPorts;

    private Client(Options options) {
        this.brokerPort = options.number("broker", 7401);
        this.branchPorts = new int[] {options.number("east", 7402), options.number("west", 7403)};
    }

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        try {
            new Client(new Options(args)).work();
        } catch (IOException | ExecutionException e) {
            LOG.log(Level.SEVERE, "giving up", e);
            System.exit(1);
        }
        System.exit(0);
    }

    private void work() throws IOException, ExecutionException, InterruptedException {
        List<Teller> tellers = new ArrayList<>();
        for (int i = 0; i < TELLERS; i++) {
            tellers.add(new Teller("teller-" + i, brokerPort));
        }
        AtomicInteger threads = new AtomicInteger();
        ThreadFactory factory = task -> new Thread(task, "Teller-" + threads.getAndIncrement());
        ExecutorService executor = Executors.newFixedThreadPool(TELLERS, factory);
        for (int round = 1; round <= ROUNDS; round++) {
            List<Callable<Void>> work = new ArrayList<>();
            for (int i = 0; i < TELLERS; i++) {
                int number = i;
                work.add(() -> {
                    tellers.get(number).work(number, TRANSFERS_PER_ROUND);
                    return null;
                });
            }
            for (Future<Void> ended : executor.invokeAll(work)) {
                ended.get();
            }
            System.out.println("progress " + round);
        }
        executor.shutdown();
        settle(tellers.get(0));
        audit();
        for (Teller teller : tellers) {
            teller.close();
        }
    }

    /** Gives the broker the time to end what was left open. */
    private static void settle(Teller teller) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + SETTLE_MS * 1_000_000;
        int open = teller.open();
        while (open > 0) {
            if (System.nanoTime() > deadline) {
                throw new IOException(open + " transfers are still open after " + SETTLE_MS + " ms");
            }
            Thread.sleep(POLL_MS);
            open = teller.open();
        }
    }

    private void audit() throws IOException {
        long expected = branchPorts.length * Branch.ACCOUNTS * Branch.EACH;
        long total = 0;
        for (int port : branchPorts) {
            total += total(port);
        }
        if (total != expected) {
            throw new IOException("the audit finds " + total + " instead of " + expected);
        }
        LOG.log(Level.INFO, "the audit finds {0}, as it should be", Long.toString(total));
    }

    private static long total(int port) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try (BranchClient branch = new BranchClient(port, "auditor")) {
                return branch.total();
            } catch (IOException e) {
                LOG.log(Level.WARNING, "cannot audit branch " + port + ", attempt " + attempt, e);
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }
}
