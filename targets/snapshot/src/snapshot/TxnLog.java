package snapshot;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Changes on disk before they are visible. Every start begins a file, so only the last record of a file may be cut short. */
final class TxnLog implements Closeable {
    private static final String PREFIX = "log.";

    private final Path directory;
    private OutputStream out;

    TxnLog(Path directory) {
        this.directory = directory;
    }

    synchronized void append(Txn txn) throws IOException {
        if (out == null) {
            // Numbered, since the server may have been here before and have written nothing but a part of this change.
            Path path = directory.resolve(String.format("%s%04d", PREFIX, files().size()));
            out = Files.newOutputStream(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.APPEND);
        }
        ByteArrayOutputStream record = new ByteArrayOutputStream();
        txn.write(new DataOutputStream(record));
        out.write(record.toByteArray());
    }

    /** All changes after one, in order. */
    synchronized List<Txn> after(long zxid) throws IOException {
        List<Txn> found = new ArrayList<>();
        long last = zxid;
        for (Path path : files()) {
            for (Txn txn : read(path)) {
                if (txn.zxid() > last) {
                    found.add(txn);
                    last = txn.zxid();
                }
            }
        }
        return found;
    }

    private static List<Txn> read(Path path) throws IOException {
        List<Txn> found = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(path)))) {
            while (true) {
                found.add(Txn.read(in));
            }
        } catch (EOFException e) {
            return found;
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(it -> it.getFileName().toString().startsWith(PREFIX)).sorted().toList();
        }
    }

    @Override
    public synchronized void close() throws IOException {
        if (out != null) {
            out.close();
        }
    }
}
