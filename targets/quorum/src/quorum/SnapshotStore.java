package quorum;

import java.io.BufferedInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Snapshots in a directory, named by the zxid at which they were begun. One exists whole or not at all. */
final class SnapshotStore {
    private static final Logger LOG = Logger.getLogger(SnapshotStore.class.getName());

    private final Path directory;

    SnapshotStore(Path directory) throws IOException {
        this.directory = Files.createDirectories(directory);
    }

    void save(DataTree tree) throws IOException {
        Path file = directory.resolve(String.format("snapshot.%016x", tree.zxid()));
        Path unfinished = directory.resolve("unfinished." + Thread.currentThread().getName());
        try (FileOutputStream out = new FileOutputStream(unfinished.toFile())) {
            tree.serialize(new RecordOutput(out));
            out.getFD().sync();
        }
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        LOG.info("snapshot " + file.getFileName() + " of " + tree.size() + " nodes, " + Files.size(file) + " bytes");
        link(file);
    }

    /** For people who look into the directory; no server reads it. */
    private void link(Path file) throws IOException {
        Path latest = directory.resolve("latest");
        try {
            Files.createSymbolicLink(latest, file.getFileName());
        } catch (FileAlreadyExistsException e) {
            LOG.log(Level.INFO, "the link to the latest snapshot is stale, making it again", e);
            Files.delete(latest);
            Files.createSymbolicLink(latest, file.getFileName());
        }
    }

    /** The newest snapshot that can be read, or an empty tree. */
    DataTree load() throws IOException {
        for (Path file : newestFirst()) {
            try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
                return DataTree.deserialize(new RecordInput(in));
            } catch (IOException e) {
                LOG.log(Level.WARNING, "problem reading " + file.getFileName() + ", trying the one before it", e);
            }
        }
        LOG.info("no snapshot, starting with an empty tree");
        return new DataTree();
    }

    List<Path> newestFirst() throws IOException {
        List<Path> snapshots = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "snapshot.*")) {
            files.forEach(snapshots::add);
        }
        snapshots.sort(Collections.reverseOrder());
        return snapshots;
    }
}
