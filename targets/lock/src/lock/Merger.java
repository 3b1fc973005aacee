package lock;

import java.io.IOException;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A process that merges the partitions that have many segments, as the ingest server names them. */
public final class Merger {
    private static final Logger LOG = Logger.getLogger(Merger.class.getName());
    private static final long POLL_MS = 40;

    private final String name;
    private final Path data;
    private final Connection ingest;
    private final Status status;
    private int merges;

    private Merger(String name, Path data, Connection ingest, Status status) {
        this.name = name;
        this.data = data;
        this.ingest = ingest;
        this.status = status;
    }

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        Options options = new Options(args);
        String name = options.text("name") + "-" + ProcessHandle.current().pid();
        try (Connection ingest = new Connection(options.number("ingest", 7601))) {
            Path data = Path.of(options.text("data"));
            new Merger(name, data, ingest, new Status(data, options.text("name"))).work();
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    private void work() throws InterruptedException {
        boolean registered = false;
        while (true) {
            try {
                if (!registered) {
                    ingest.call("HELLO", name);
                    LOG.log(Level.INFO, "{0} is merging", name);
                    registered = true;
                }
                status.beat(merges);
                int number = Integer.parseInt(ingest.call("NEXT"));
                if (number >= 0) {
                    merge(number);
                }
            } catch (IOException e) {
                LOG.log(Level.INFO, "no work: {0}", e.toString());
                registered = false;
            }
            Thread.sleep(POLL_MS);
        }
    }

    private void merge(int number) throws IOException {
        Partition partition = new Partition(data, number);
        MergeLock lock = new MergeLock(partition, name);
        if (!lock.take()) {
            LOG.log(Level.INFO, "partition {0} is being merged by another", number);
            return;
        }
        int segments;
        try {
            segments = partition.merge();
        } finally {
            lock.release();
        }
        LOG.log(Level.INFO, "merged {0} segments of partition {1}", new Object[] {segments, number});
        merges++;
        ingest.call("MERGED", Integer.toString(number));
    }
}
