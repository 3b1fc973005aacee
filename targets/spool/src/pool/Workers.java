package pool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.logging.Logger;

/**
 * {@code Workers DIR RUNS}: two equal workers do the jobs of a queue. Who gets how many is chance in a pool; here it alternates with
 * the runs, which are counted in a file, so that no two runs in turn are alike. A job that cannot be written is tried again, but not
 * the seventh, before which somebody has to look.
 */
public final class Workers {
    private static final Logger LOG = Logger.getLogger(Workers.class.getName());
    private static final int JOBS = 12;
    private static final int DELICATE = 7;

    private final Path directory;
    private final boolean isEven;
    private int job;

    private Workers(Path directory, boolean isEven) {
        this.directory = directory;
        this.isEven = isEven;
    }

    public static void main(String[] args) throws Exception {
        Path runs = Path.of(args[1]);
        Files.writeString(runs, "run\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        boolean isEven = Files.readAllLines(runs).size() % 2 == 0;
        Workers workers = new Workers(Path.of(args[0]), isEven);
        Thread first = new Thread(() -> workers.work(true), "worker-1");
        Thread second = new Thread(() -> workers.work(false), "worker-2");
        first.start();
        second.start();
        first.join();
        second.join();
        LOG.info("all jobs are done");
    }

    /** Does the jobs of one of the two, each when its turn has come. */
    private synchronized void work(boolean isFirst) {
        while (job < JOBS) {
            if (isOfFirst(job + 1) != isFirst) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    return;
                }
            } else {
                next();
                notifyAll();
            }
        }
    }

    private boolean isOfFirst(int number) {
        return isEven ? number % 3 == 1 : number % 4 != 2;
    }

    private void next() {
        job++;
        try {
            write(job);
        } catch (IOException e) {
            if (job == DELICATE) {
                LOG.severe("job " + job + " is lost");
            } else {
                LOG.warning("job " + job + " is left for later");
            }
        }
    }

    private void write(int number) throws IOException {
        Files.writeString(directory.resolve("job." + number), "done"); // site: write
        LOG.info("job " + number + " is done");
    }
}
