package shards;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Keeps the cell in order. At each beat it asks all hosts for their reports, takes them in, and removes the hosts that have been
 * silent for too long.
 */
final class CellManager implements Runnable {
    private static final Logger LOG = Logger.getLogger(CellManager.class.getName());
    private static final Duration SILENCE = Duration.ofMillis(400);
    private static final long GATHER_MS = 500;
    /** So many hosts have to be left: each shard has that many copies. */
    private static final int HOSTS_MIN = 3;

    private final BlockingQueue<Report> reports;
    private final ReportHandler handler;
    private final Placer placer;
    private final AuditLog audit;
    private final Map<String, HostState> hosts = new TreeMap<>();
    private final BlockingQueue<Long> beats = new LinkedBlockingQueue<>();
    private final Semaphore rounds = new Semaphore(0);
    private volatile List<String> status = List.of();
    private int round;

    CellManager(BlockingQueue<Report> reports, ReportHandler handler, Placer placer, AuditLog audit) {
        this.reports = reports;
        this.handler = handler;
        this.placer = placer;
        this.audit = audit;
    }

    /** Before the manager runs. */
    void join(Host host) {
        hosts.put(host.name(), new HostState(host));
    }

    /** Before the manager runs. */
    void place(Shard shard) throws NoHostException {
        placer.place(shard, hosts.values());
    }

    void beat() {
        beats.add(System.nanoTime());
    }

    boolean awaitRounds(int count, long limitMs) throws InterruptedException {
        return rounds.tryAcquire(count, limitMs, TimeUnit.MILLISECONDS);
    }

    /** A line for each host, as of the end of the last round. */
    List<String> status() {
        return status;
    }

    @Override
    public void run() {
        try {
            while (true) {
                beats.take();
                round();
                rounds.release();
            }
        } catch (InterruptedException e) {
            LOG.fine("the manager ends");
        }
    }

    private void round() throws InterruptedException {
        round++;
        for (HostState host : hosts.values()) {
            host.ask(round);
        }
        for (Report report : gather()) {
            handler.handle(report, hosts.get(report.host()));
        }
        check();
        status = hosts.values().stream().map(HostState::toString).toList();
    }

    /** The reports of the round, sorted by host. */
    private Collection<Report> gather() throws InterruptedException {
        Map<String, Report> gathered = new TreeMap<>();
        while (gathered.size() < hosts.size()) {
            Report report = reports.poll(GATHER_MS, TimeUnit.MILLISECONDS);
            if (report == null) {
                LOG.log(Level.WARNING, "only {0} hosts reported", gathered.size());
                break;
            }
            if (isCurrent(report)) {
                gathered.put(report.host(), report);
            }
        }
        return gathered.values();
    }

    /** False for an answer that came too late: its host was asked again, or was removed. */
    private boolean isCurrent(Report report) {
        return report.round() == round && hosts.containsKey(report.host());
    }

    private void check() {
        for (HostState host : List.copyOf(hosts.values())) {
            if (isSilent(host)) {
                drop(host);
            }
        }
    }

    private boolean isSilent(HostState host) {
        return SILENCE.minusNanos(System.nanoTime() - host.reportedNs()).isNegative();
    }

    private void drop(HostState host) {
        if (hosts.size() <= HOSTS_MIN) {
            LOG.log(Level.WARNING, "{0} is silent, kept as only {1} hosts are left", new Object[] {host, hosts.size()});
            return;
        }
        LOG.log(Level.WARNING, "{0} is silent, moving its shards", host);
        hosts.remove(host.name());
        audit.write("removed " + host);
        try {
            placer.move(host, hosts.values());
        } catch (NoHostException e) {
            LOG.log(Level.SEVERE, "shards of " + host + " are lost", e);
        }
    }
}
