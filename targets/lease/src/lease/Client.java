package lease;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The workload: puts while one worker serves, a standby that joins, more puts, and a look at every journal. Exit status 0
 * only if all puts were served, and no shard ever had two owners.
 */
public final class Client {
    private static final Logger LOG = Logger.getLogger(Client.class.getName());
    private static final int PUTS_ALONE = 25;
    private static final int PUTS_WITH_STANDBY = 475;
    private static final int PUTS_PER_STEP = 50;
    private static final int THINK_MS = 8;
    private static final int JOIN_ATTEMPTS = 5;

    private final Table table;
    private final int standbyPort;
    private final Path data;
    private int puts;

    private Client(Options options) {
        this.table = new Table(options.number("coordinator", 7301));
        this.standbyPort = options.number("standby", 7303);
        this.data = Path.of(options.text("data"));
    }

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        Thread.currentThread().setName("Writer");
        try {
            new Client(new Options(args)).work();
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "giving up", e);
            System.exit(1);
        }
        System.exit(0);
    }

    private void work() throws IOException, InterruptedException {
        put(PUTS_ALONE);
        join();
        put(PUTS_WITH_STANDBY);
        for (int i = 0; i < puts; i += 20) {
            table.get(key(i));
        }
        table.close();
        for (int shard = 0; shard < LeaseTable.SHARDS; shard++) {
            check(shard);
        }
    }

    private static String key(int number) {
        return String.format("row-%05d", number);
    }

    private void put(int count) throws IOException, InterruptedException {
        for (int i = 0; i < count; i++) {
            table.put(key(puts), "value-" + puts);
            puts++;
            if (puts % PUTS_PER_STEP == 0) {
                System.out.println("progress " + puts / PUTS_PER_STEP);
            }
            Thread.sleep(THINK_MS);
        }
    }

    private void join() throws IOException {
        for (int attempt = 1; ; attempt++) {
            try (Connection standby = new Connection(standbyPort, "client")) {
                standby.out().writeUTF("JOIN");
                standby.out().flush();
                standby.in().readUTF();
                return;
            } catch (IOException e) {
                LOG.log(Level.WARNING, "the standby does not join, attempt " + attempt, e);
                if (attempt == JOIN_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    /** Once a shard was given away, whoever had it before may not write it. */
    private void check(int shard) throws IOException {
        List<Entry> entries = Journal.read(Journal.path(data, shard));
        Entry newest = entries.get(0);
        for (Entry entry : entries) {
            if (entry.epoch() < newest.epoch()) {
                throw new IOException("shard " + shard + " has two owners: " + entry.worker() + " wrote " + entry.key()
                        + " under epoch " + entry.epoch() + " after " + newest.worker() + " had taken epoch "
                        + newest.epoch());
            }
            newest = entry;
        }
        LOG.log(Level.INFO, "shard {0} has {1} entries, all in order", new Object[] {shard, entries.size()});
    }
}
