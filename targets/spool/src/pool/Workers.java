package pool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.Semaphore;
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
    private int job;

    private Workers(Path directory) {
        this.directory = directory;
    }

    public static void main(String[] args) throws Exception {
        Path runs = Path.of(args[1]);
        Files.writeString(runs, "run\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        List<String> all = Files.readAllLines(runs);
        int share = all.size() % 2 == 0 ? 4 : 9;
        Workers workers = new Workers(Path.of(args[0]));
        Semaphore turn = new Semaphore(0);
        Thread first = new Thread(() -> workers.work(share, turn), "worker-1");
        Thread second = new Thread(() -> {
            turn.acquireUninterruptibly();
            workers.work(JOBS - share, turn);
        }, "worker-2");
        first.start();
        second.start();
        first.join();
        second.join();
        LOG.info("all jobs are done");
    }

    private void work(int jobs, Semaphore turn) {
        for (int done = 0; done < jobs; done++) {
            next();
        }
        turn.release();
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
