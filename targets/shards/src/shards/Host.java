package shards;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Serves shards, and reports on them when the manager asks. */
final class Host implements Runnable {
    private static final Logger LOG = Logger.getLogger(Host.class.getName());

    private final String name;
    private final BlockingQueue<Report> reports;
    private final BlockingQueue<Ask> asked = new LinkedBlockingQueue<>();
    /** The loaded shards, and those that the manager has not settled yet. */
    private final Map<Integer, Shard> reported = new TreeMap<>();

    Host(String name, BlockingQueue<Report> reports) {
        this.name = name;
        this.reports = reports;
    }

    String name() {
        return name;
    }

    void ask(Ask ask) {
        asked.add(ask);
    }

    @Override
    public void run() {
        try {
            while (true) {
                reports.put(answer(asked.take()));
            }
        } catch (InterruptedException e) {
            LOG.log(Level.FINE, "{0} ends", name);
        }
    }

    private Report answer(Ask ask) {
        reported.values().removeIf(it -> it.load() == 0 && ask.settled().contains(it.id()));
        ask.opened().forEach(it -> reported.put(it.id(), it));
        return new Report(name, ask.round(), reported.values().stream().map(Entry::of).toList());
    }
}
