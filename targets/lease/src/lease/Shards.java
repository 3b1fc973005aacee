package lease;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** The shards that this worker has opened. Their journals are on storage that all workers share. */
final class Shards {
    private final String worker;
    private final Path directory;
    private final Map<Integer, Journal> journals = new TreeMap<>();

    Shards(String worker, Path directory) throws IOException {
        this.worker = worker;
        this.directory = Files.createDirectories(directory);
    }

    /** Takes a shard over: what is in its journal counts, and the first record of the new epoch says whose it is. */
    synchronized void open(int shard, int epoch) throws IOException {
        Journal old = journals.remove(shard);
        if (old != null) {
            old.close();
        }
        Journal journal = Journal.open(Journal.path(directory, shard));
        journal.append(new Entry(epoch, worker, "", "open"));
        journals.put(shard, journal);
    }

    private synchronized Journal journal(int shard) throws IOException {
        Journal journal = journals.get(shard);
        if (journal == null) {
            throw new IOException("shard " + shard + " is not open");
        }
        return journal;
    }

    void put(int shard, int epoch, String key, String value) throws IOException {
        journal(shard).append(new Entry(epoch, worker, key, value));
    }

    String get(int shard, String key) throws IOException {
        return journal(shard).find(key);
    }
}
