package quorum;

import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** One server of the three: puts its parts together and starts their threads. */
public final class Server {
    private static final Logger LOG = Logger.getLogger(Server.class.getName());
    private static final int PURGE_MS = 900;

    private Server() {}

    public static void main(String[] args) {
        Logs.setUp();
        Thread.setDefaultUncaughtExceptionHandler(
                (thread, e) -> LOG.log(Level.SEVERE, "thread " + thread.getName() + " died", e));
        try {
            start(Config.parse(args));
        } catch (IOException | IllegalArgumentException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    private static void start(Config config) throws IOException {
        LOG.info("starting server " + config.id + " in " + config.data);
        Store store = new Store(config);
        Requests requests = new Requests();
        SnapshotThread snapshots = new SnapshotThread(store);
        SyncThread sync = new SyncThread(store);
        CommitThread commit = new CommitThread(config, store, requests, snapshots);
        QuorumPeer peer = new QuorumPeer(config, store, sync, commit);
        ClientAcceptor clients = new ClientAcceptor(peer, store, requests);
        Thread election = new Thread(new ElectionListener(peer), "ElectionListener");
        Thread health = new Thread(new HealthServer(peer), "Health");
        Thread metrics = new Thread(new Metrics(config, store, requests), "Metrics");
        metrics.setDaemon(true);
        for (Thread thread : new Thread[] {snapshots, sync, commit, election, health, clients, peer, metrics}) {
            thread.start();
        }
        ScheduledExecutorService housekeeping =
                Executors.newSingleThreadScheduledExecutor(
                        work -> {
                            Thread thread = new Thread(work, "Housekeeping");
                            thread.setDaemon(true);
                            return thread;
                        });
        Purge purge = new Purge(config, store);
        housekeeping.scheduleWithFixedDelay(purge::call, PURGE_MS, PURGE_MS, TimeUnit.MILLISECONDS);
    }
}
