package wal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The data: cells in memory, those being flushed, and store files, newest first. */
final class Region {
    private static final Logger LOG = Logger.getLogger(Region.class.getName());

    private final Path directory;
    private final List<StoreFile> files = new ArrayList<>();
    private SortedMap<String, String> memory = new TreeMap<>();
    private SortedMap<String, String> flushing = new TreeMap<>();
    private long memoryBytes;
    private int written;

    Region(Path directory) throws IOException {
        this.directory = Files.createDirectories(directory);
    }

    /** Returns the bytes in memory. The edit is in the log already. */
    synchronized long put(String key, String value) {
        memory.put(key, value);
        memoryBytes += key.length() + value.length();
        return memoryBytes;
    }

    String get(String key) throws IOException {
        // A compaction may take a file away between the look at the list and the opening of the file.
        for (int attempt = 1; ; attempt++) {
            try {
                return lookUp(key);
            } catch (NoSuchFileException e) {
                LOG.log(Level.WARNING, "store file went away while looking for " + key + ", attempt " + attempt, e);
                if (attempt == 3) {
                    throw e;
                }
            }
        }
    }

    private String lookUp(String key) throws IOException {
        List<StoreFile> newestFirst;
        synchronized (this) {
            String value = memory.getOrDefault(key, flushing.get(key));
            if (value != null) {
                return value;
            }
            newestFirst = new ArrayList<>(files);
        }
        for (StoreFile file : newestFirst) {
            String value = file.find(key);
            if (value != null) {
                return value;
            }
        }
        return null;
    }

    /** Takes what is in memory for a flush; puts go on into a new map. */
    synchronized SortedMap<String, String> beginFlush() {
        if (flushing.isEmpty()) {
            flushing = memory;
            memory = new TreeMap<>();
            memoryBytes = 0;
        }
        return flushing;
    }

    synchronized void endFlush(StoreFile file) {
        files.add(0, file);
        flushing = new TreeMap<>();
    }

    synchronized List<StoreFile> files() {
        return new ArrayList<>(files);
    }

    /** Puts one file in place of the given ones, which are the oldest. */
    synchronized void replace(List<StoreFile> old, StoreFile merged) {
        files.removeAll(old);
        files.add(merged);
    }

    synchronized Path nextPath() {
        return directory.resolve(String.format("store.%04d", ++written));
    }
}
