package shards;

import java.io.Closeable;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A cell: hosts, and the manager that places shards on them. {@code Cell FILE} runs one, a beat every 100 ms. */
final class Cell implements Closeable {
    private static final Logger LOG = Logger.getLogger(Cell.class.getName());
    private static final int LOAD = 10;
    private static final long BEAT_MS = 100;

    private final BlockingQueue<Report> reports = new LinkedBlockingQueue<>();
    private final Catalog catalog = new Catalog();
    private final AuditLog audit = new AuditLog();
    private final CellManager manager =
            new CellManager(reports, new ReportHandler(catalog), new Placer(catalog), audit);
    private final StatusServer server = new StatusServer(manager);
    private final Map<String, Thread> threads = new TreeMap<>();

    Cell(CellConfig config) throws IOException, NoHostException {
        for (int number = 1; number <= config.hosts(); number++) {
            Host host = new Host("h" + number, reports);
            manager.join(host);
            spawn(host.name(), host);
        }
        for (int id = 1; id <= config.loaded() + config.idle(); id++) {
            manager.place(new Shard(id, id <= config.loaded() ? LOAD : 0));
        }
        spawn("manager", manager);
        spawn("status", server);
        audit.write("started with " + config);
    }

    private void spawn(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
        threads.put(name, thread);
    }

    CellManager manager() {
        return manager;
    }

    Catalog catalog() {
        return catalog;
    }

    AuditLog audit() {
        return audit;
    }

    int statusPort() {
        return server.port();
    }

    /** Ends the host as a crash would: it answers no more. */
    void stop(String host) throws CellException, InterruptedException {
        Thread thread = threads.remove(host);
        if (thread == null) {
            throw new CellException("there is no " + host);
        }
        thread.interrupt();
        thread.join();
    }

    @Override
    public void close() throws IOException {
        threads.values().forEach(Thread::interrupt);
        server.close();
        audit.close();
    }

    public static void main(String[] args) throws Exception {
        Logging.install();
        try (Reader reader = Files.newBufferedReader(Path.of(args[0])); Cell cell = new Cell(CellConfig.read(reader))) {
            LOG.log(Level.INFO, "status at port {0}", cell.statusPort());
            while (true) {
                cell.manager().beat();
                Thread.sleep(BEAT_MS);
            }
        }
    }
}
