package shards;

import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;

/** Serves shards, and reports on them when the manager asks. */
final class Host implements Runnable {
    private static final Logger LOG = Logger.getLogger(Host.class.getName());
    /** A manager that has to take in more at once is blind for too long. */
    private static final int ENTRIES_MAX = 100;

    private final String name;
    private final BlockingQueue<Report> reports;
    private final BlockingQueue<Ask> asked = new LinkedBlockingQueue<>();
    /** The loaded shards, and those that the manager has not settled yet. */
    private final NavigableMap<Integer, Shard> reported = new TreeMap<>();
    /** The last shard of the last report. */
    private int last;

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
        return new Report(name, ask.round(), nextEntries());
    }

    /** As many entries as a report may have, from where the last one ended. */
    private List<Entry> nextEntries() {
        List<Entry> entries = Stream.of(reported.tailMap(last, false), reported.headMap(last, true))
                .flatMap(it -> it.values().stream())
                .limit(ENTRIES_MAX)
                .map(Entry::of)
                .toList();
        if (!entries.isEmpty()) {
            last = entries.get(entries.size() - 1).shard();
        }
        return entries;
    }
}
