package commit;

import java.io.IOException;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A process that works on attempts: computes, asks whether it may commit, commits, and says that it is done. */
public final class Worker {
    private static final Logger LOG = Logger.getLogger(Worker.class.getName());
    private static final long RETRY_MS = 50;
    private static final int STEPS = 5;
    private static final long STEP_MS = 40;
    /** A commit takes its time on a real file system. */
    private static final long COMMIT_MS = 20;

    private final Outputs outputs;
    private final Connection master;

    private Worker(Outputs outputs, Connection master) {
        this.outputs = outputs;
        this.master = master;
    }

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        Options options = new Options(args);
        try (Connection master = new Connection(options.number("master", 7850))) {
            Worker worker = new Worker(new Outputs(Path.of(options.text("data"))), master);
            LOG.log(Level.INFO, "{0} is at work", options.text("name"));
            worker.work();
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    private void work() throws InterruptedException {
        while (true) {
            try {
                String next = master.call("NEXT", "");
                if (!next.isEmpty()) {
                    String[] parts = next.split(" ");
                    run(Integer.parseInt(parts[0]), parts[1]);
                    continue;
                }
            } catch (IOException e) {
                LOG.log(Level.INFO, "the attempt is lost: {0}", e.toString());
            }
            Thread.sleep(RETRY_MS);
        }
    }

    private void run(int task, String attempt) throws IOException, InterruptedException {
        long sum = 0;
        for (int step = 0; step < STEPS; step++) {
            Thread.sleep(STEP_MS);
            sum += task;
            master.call("STATUS", attempt);
        }
        outputs.write(attempt, Long.toString(sum));
        while (!master.call("CAN_COMMIT", attempt).equals("YES")) {
            Thread.sleep(RETRY_MS);
        }
        Thread.sleep(COMMIT_MS);
        outputs.commit(attempt, task);
        master.call("DONE", attempt);
    }
}
