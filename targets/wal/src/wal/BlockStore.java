package wal;

import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;

/** The directory of the log files. A backup freezes it for a while: then nothing is written. */
final class BlockStore {
    private static final Logger LOG = Logger.getLogger(BlockStore.class.getName());

    private final Path directory;
    private final int relocateEvery;
    private final String bad;
    private final AtomicLong packets = new AtomicLong();
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock(true);

    BlockStore(Path directory, int relocateEvery, String bad) throws IOException {
        this.directory = Files.createDirectories(directory);
        this.relocateEvery = relocateEvery;
        this.bad = bad;
    }

    Path path(String block) {
        return directory.resolve(block);
    }

    /** Held by whoever writes a block. */
    void beginWrite() {
        lock.readLock().lock();
    }

    void endWrite() {
        lock.readLock().unlock();
    }

    /** Every so many packets the balancer wants the block elsewhere: its writer has to begin a new one. */
    boolean mustRelocate() {
        return packets.incrementAndGet() % relocateEvery == 0;
    }

    /** Whether the disk is bad where this block is, see Flaky. */
    boolean isBad(String block) {
        return block.equals(bad);
    }

    void freeze() {
        lock.writeLock().lock();
        LOG.info("store is frozen");
    }

    void thaw() {
        LOG.info("store is thawed");
        lock.writeLock().unlock();
    }

    boolean isFrozen() {
        return lock.isWriteLocked();
    }

    boolean isFrozenByMe() {
        return lock.isWriteLockedByCurrentThread();
    }

    List<Path> blocks() throws IOException {
        List<Path> blocks = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory)) {
            files.forEach(blocks::add);
        }
        Collections.sort(blocks);
        return blocks;
    }

    /** Sends every block: name, length, bytes. A block that cannot be read is sent as empty, and the backup goes on. */
    void copyTo(DataOutputStream out) throws IOException {
        List<Path> blocks = blocks();
        out.writeInt(blocks.size());
        for (Path block : blocks) {
            byte[] bytes = {};
            try {
                bytes = Files.readAllBytes(block);
            } catch (IOException e) {
                LOG.log(Level.WARNING, "cannot read " + block.getFileName() + " for the backup", e);
            }
            out.writeUTF(block.getFileName().toString());
            out.writeInt(bytes.length);
            out.write(bytes);
        }
    }
}
