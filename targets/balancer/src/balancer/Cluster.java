package balancer;

import java.io.Closeable;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.IntStream;

/** A master with its threads, and the hosts. {@code Cluster FILE TABLE COUNT} opens a table, closes it, and ends. */
final class Cluster implements Closeable {
    private static final Logger LOG = Logger.getLogger(Cluster.class.getName());
    private static final long LIMIT_MS = 30_000;

    private final BlockingQueue<Answer> answers = new LinkedBlockingQueue<>();
    private final Locations locations = new Locations();
    private final Releaser releaser = new Releaser();
    private final MetaKeeper keeper = new MetaKeeper();
    private final ProcedureLog log = new ProcedureLog();
    private final Map<String, RegionHost> hosts = new TreeMap<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Placer placer;
    private final Assigner assigner;

    Cluster(Settings settings) throws IOException {
        placer = settings.favored() ? new FavoredPlacer() : new PlainPlacer();
        assigner = new Assigner(placer, releaser, keeper, locations, settings.failFast());
        for (int number = 1; number <= settings.hosts(); number++) {
            join("h" + number);
        }
        spawn("assigner", assigner);
        spawn("releaser", releaser);
        spawn("keeper", keeper);
        spawn("tracker", new Tracker(answers, placer));
    }

    private void spawn(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
    }

    void join(String name) {
        RegionHost host = new RegionHost(name, answers);
        hosts.put(name, host);
        spawn(name, host);
        placer.join(host);
        keeper.join(host);
    }

    /** Opens the regions, and returns how many are open within the limit. */
    int open(List<Region> regions, long limitMs) throws InterruptedException {
        log.started(regions);
        List<Request> requests = regions.stream().map(Request::open).toList();
        assigner.assign(requests);
        await(requests, limitMs);
        List<Region> opened = requests.stream()
                .filter(it -> it.done().getNow(Outcome.BUSY) == Outcome.DONE)
                .map(Request::region)
                .toList();
        record(opened);
        return opened.size();
    }

    /** Has the catalogue tell where these regions are; returns how many of the rows were written. */
    int record(List<Region> regions) throws InterruptedException {
        return await(keeper.record(regions), LIMIT_MS);
    }

    /** Closes the regions, and returns how many are closed. */
    int close(List<Region> regions) throws InterruptedException, UnknownRegionException {
        List<Plan> plans = new ArrayList<>();
        for (Region region : regions) {
            plans.add(locations.find(region));
        }
        int closed = await(releaser.release(plans), LIMIT_MS);
        regions.forEach(locations::forget);
        return closed;
    }

    /** A host is gone: its regions are opened elsewhere. */
    int lose(String name) throws InterruptedException {
        RegionHost host = hosts.remove(name);
        host.lose();
        placer.exclude(host);
        return open(locations.on(host), LIMIT_MS);
    }

    ProcedureLog log() {
        return log;
    }

    /** Waits for all of them, and returns how many are done. */
    private static int await(List<Request> requests, long limitMs) throws InterruptedException {
        List<CompletableFuture<Outcome>> all = requests.stream().map(Request::done).toList();
        try {
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(limitMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            LOG.log(Level.WARNING, "not everything is done", e);
        }
        return (int) all.stream().filter(it -> it.getNow(Outcome.BUSY) == Outcome.DONE).count();
    }

    @Override
    public void close() throws IOException {
        threads.forEach(Thread::interrupt);
        log.close();
    }

    public static void main(String[] args) throws Exception {
        Logging.install();
        List<Region> regions =
                IntStream.rangeClosed(1, Integer.parseInt(args[2])).mapToObj(it -> Region.of(args[1], it)).toList();
        try (Reader reader = Files.newBufferedReader(Path.of(args[0]));
                Cluster cluster = new Cluster(Settings.read(reader))) {
            LOG.log(Level.INFO, "{0} regions are open", cluster.open(regions, LIMIT_MS));
            LOG.log(Level.INFO, "{0} regions are in the log", cluster.log().read().size());
            LOG.log(Level.INFO, "{0} regions are closed", cluster.close(regions));
            LOG.log(Level.INFO, "{0} regions had to be moved", cluster.lose("h1"));
        }
    }
}
