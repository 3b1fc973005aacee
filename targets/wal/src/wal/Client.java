package wal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The workload: single puts, a backup with a few puts under way, more single puts, a backup during a bulk load,
 * single puts again, and every twentieth key read back. How many there are is in the options. Exit status 0 only if
 * all of it went well; 1 after five seconds in which nothing moved.
 */
public final class Client {
    private static final Logger LOG = Logger.getLogger(Client.class.getName());
    private static final int SMALL_BYTES = 150;
    /** How often the single puts before a backup report progress. */
    private static final int REPORTS = 6;

    private final Table table;
    private final int serverPort;
    private final int peerPort;
    private final Path data;
    private final int singles;
    private final int few;
    private final int bulk;
    private final int bulkBytes;
    private final Watchdog watchdog;
    private final List<String> written = new ArrayList<>();
    private int steps;

    private Client(Options options, Watchdog watchdog) {
        this.serverPort = options.number("server", 7101);
        this.peerPort = options.number("peer", 7102);
        this.data = Path.of(options.text("data"));
        this.singles = options.number("singles", 600);
        this.few = options.number("few", 20);
        this.bulk = options.number("bulk", 400);
        this.bulkBytes = options.number("bulk-bytes", 1000);
        this.table = new Table(serverPort);
        this.watchdog = watchdog;
    }

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        Options options = new Options(args);
        Watchdog watchdog = new Watchdog();
        Client client = new Client(options, watchdog);
        Thread prober = new Thread(new Prober(client.serverPort, options.number("probe-ms", 10)), "Prober");
        prober.setDaemon(true);
        prober.start();
        Thread.currentThread().setName("Writer");
        try {
            client.work();
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "giving up", e);
            System.exit(1);
        }
        System.exit(0);
    }

    static String key(int number) {
        return String.format("row-%06d", number);
    }

    private void work() throws IOException, InterruptedException {
        putEach(singles);
        backup("backup-1", few);
        putEach(singles);
        backup("backup-2", bulk);
        putEach(singles / REPORTS);
        verify();
        Files.writeString(data.resolve("written"), String.join("\n", written));
        table.close();
    }

    private void putEach(int count) throws IOException, InterruptedException {
        String value = "s".repeat(SMALL_BYTES);
        for (int i = 1; i <= count; i++) {
            String key = key(written.size());
            table.put(key, value);
            written.add(key);
            watchdog.feed();
            if (i % (singles / REPORTS) == 0) {
                progress();
            }
        }
    }

    private void backup(String name, int edits) throws IOException, InterruptedException {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < edits; i++) {
            keys.add(key(written.size() + i));
        }
        Backup backup = new Backup(serverPort, peerPort, data.resolve(name));
        table.putAll(keys, "l".repeat(bulkBytes), backup);
        written.addAll(keys);
        progress();
    }

    private void verify() throws IOException, InterruptedException {
        for (int i = 0; i < written.size(); i += 20) {
            if (table.get(written.get(i)) == null) {
                throw new IOException(written.get(i) + " is lost");
            }
            watchdog.feed();
        }
        progress();
    }

    private void progress() {
        watchdog.feed();
        System.out.println("progress " + ++steps);
    }
}
