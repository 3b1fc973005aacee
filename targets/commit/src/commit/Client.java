package commit;

import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The workload: waits for the output of each task. Exit status 0 only if all come in time. */
public final class Client {
    private static final Logger LOG = Logger.getLogger(Client.class.getName());
    private static final int TASKS = 24;
    private static final int TASKS_PER_STEP = 4;
    private static final int STEPS = 5;
    private static final long POLL_MS = 50;
    private static final long LIMIT_MS = 8000;

    private Client() {}

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        try (Connection master = new Connection(new Options(args).number("master", 7851))) {
            for (int i = 0; i < TASKS; i++) {
                await(master, i);
                if ((i + 1) % TASKS_PER_STEP == 0) {
                    System.out.println("progress " + (i + 1) / TASKS_PER_STEP);
                }
            }
            LOG.info("the job is done");
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "giving up", e);
            System.exit(1);
        }
    }

    private static void await(Connection master, int task) throws IOException, InterruptedException {
        String expected = Integer.toString(STEPS * task);
        long deadline = System.nanoTime() + LIMIT_MS * 1_000_000;
        String found = "";
        while (!found.equals(expected)) {
            if (System.nanoTime() > deadline) {
                throw new IOException("task " + task + " is not done in " + LIMIT_MS + " ms");
            }
            Thread.sleep(POLL_MS);
            try {
                found = master.call(Integer.toString(task));
            } catch (IOException e) {
                LOG.log(Level.INFO, "no master: {0}", e.toString());
            }
        }
    }
}
