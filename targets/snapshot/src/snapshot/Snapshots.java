package snapshot;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.CheckedOutputStream;

/** Whole trees on disk, a file each, named by their last change. Each ends in a checksum: its writer may have been cut short. */
final class Snapshots {
    private static final Logger LOG = Logger.getLogger(Snapshots.class.getName());
    private static final String PREFIX = "snapshot.";
    private static final int CHECKSUM_BYTES = Long.BYTES;

    private final Path directory;

    Snapshots(Path directory) {
        this.directory = directory;
    }

    void save(Tree tree) throws IOException {
        Path path = directory.resolve(PREFIX + Long.toHexString(tree.zxid()));
        CRC32 checksum = new CRC32();
        try (OutputStream file = Files.newOutputStream(path)) {
            DataOutputStream out = new DataOutputStream(new CheckedOutputStream(file, checksum));
            tree.write(out);
            out.writeLong(checksum.getValue());
            out.flush();
        }
        LOG.log(Level.INFO, "wrote {0}", path.getFileName());
    }

    /** The newest tree that is whole; an empty one if there is none. */
    Tree load() throws IOException {
        for (Path path : newestFirst()) {
            byte[] bytes = Files.readAllBytes(path);
            if (isWhole(bytes)) {
                LOG.log(Level.INFO, "loading {0}", path.getFileName());
                return Tree.read(new DataInputStream(new ByteArrayInputStream(bytes)));
            }
            LOG.log(Level.WARNING, "{0} is not whole, trying an older one", path.getFileName());
        }
        return new Tree();
    }

    private List<Path> newestFirst() throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory)) {
            files.filter(it -> it.getFileName().toString().startsWith(PREFIX)).forEach(found::add);
        }
        found.sort(Comparator.comparingLong(Snapshots::zxid).reversed());
        return found;
    }

    private static long zxid(Path path) {
        return Long.parseLong(path.getFileName().toString().substring(PREFIX.length()), 16);
    }

    private static boolean isWhole(byte[] bytes) {
        int length = bytes.length - CHECKSUM_BYTES;
        if (length < 0) {
            return false;
        }
        CRC32 checksum = new CRC32();
        checksum.update(bytes, 0, length);
        return checksum.getValue() == ByteBuffer.wrap(bytes, length, CHECKSUM_BYTES).getLong();
    }
}
