package lock;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The right to merge a partition: a file that only one can create, with the name of its owner. */
final class MergeLock {
    private static final Logger LOG = Logger.getLogger(MergeLock.class.getName());
    /** An owner that has not written its name after this time is not going to. */
    private static final long NAMELESS_MS = 1000;

    private final Path path;
    private final String owner;

    MergeLock(Partition partition, String owner) {
        this.path = partition.directory().resolve("lock");
        this.owner = owner;
    }

    /** Tests whether it is ours now. A lock of a merger that is gone is taken over: to merge twice does no harm. */
    boolean take() throws IOException {
        if (isOwned()) {
            return false;
        }
        try {
            Files.createFile(path);
        } catch (FileAlreadyExistsException e) {
            return false;
        }
        Files.writeString(path, owner);
        return true;
    }

    /** Tests whether a live merger has it. */
    private boolean isOwned() throws IOException {
        try {
            String name = Files.readString(path);
            if (name.isEmpty() ? isRecent() : isAlive(name)) {
                return true;
            }
            LOG.log(Level.INFO, "taking over the lock of {0}", name);
            Files.delete(path);
            return false;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** An owner is named by its process; all mergers are on this machine. */
    private static boolean isAlive(String name) {
        long pid = Long.parseLong(name.substring(name.lastIndexOf('-') + 1));
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
    }

    private boolean isRecent() throws IOException {
        FileTime since = Files.getLastModifiedTime(path);
        return System.currentTimeMillis() - since.toMillis() < NAMELESS_MS;
    }

    void release() throws IOException {
        Files.deleteIfExists(path);
    }
}
