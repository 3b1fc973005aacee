package quorum;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.zip.CRC32;

/** The transactions on disk, in files named by their first zxid. What was appended is durable after `force`. */
final class TxnLog {
    private static final Logger LOG = Logger.getLogger(TxnLog.class.getName());
    private static final int SLOW_MS = 25;

    private final Path directory;
    private FileChannel channel;

    TxnLog(Path directory) throws IOException {
        this.directory = Files.createDirectories(directory);
    }

    synchronized void append(Txn txn) throws IOException {
        byte[] bytes = txn.toBytes();
        CRC32 sum = new CRC32();
        sum.update(bytes);
        ByteBuffer record = ByteBuffer.allocate(bytes.length + 12);
        record.putInt(bytes.length).putLong(sum.getValue()).put(bytes).flip();
        if (channel == null) {
            Path file = directory.resolve(String.format("log.%016x", txn.zxid()));
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            LOG.info("creating new log file " + file.getFileName());
        }
        while (record.hasRemaining()) {
            channel.write(record);
        }
    }

    synchronized void force() throws IOException {
        if (channel == null) {
            return;
        }
        long start = System.nanoTime();
        channel.force(false);
        long elapsed = (System.nanoTime() - start) / 1_000_000;
        if (elapsed > SLOW_MS) {
            LOG.warning("fsync of the transaction log took " + elapsed + " ms, this will slow down requests");
        }
    }

    /** The next append begins a new file. */
    synchronized void roll() {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot close the old log file, leaving it open", e);
        }
        channel = null;
    }

    /** Forgets everything: a snapshot of the leader takes its place. */
    synchronized void clear() throws IOException {
        roll();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "log.*")) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
    }

    synchronized SortedMap<Long, Txn> read() throws IOException {
        SortedMap<Long, Txn> txns = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "log.*")) {
            for (Path file : files) {
                readFile(file, txns);
            }
        }
        return txns;
    }

    private static void readFile(Path file, SortedMap<Long, Txn> txns) throws IOException {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            while (true) {
                byte[] bytes = new byte[in.readInt()];
                long expected = in.readLong();
                in.readFully(bytes);
                CRC32 sum = new CRC32();
                sum.update(bytes);
                if (sum.getValue() != expected) {
                    LOG.warning("bad checksum in " + file + ", taking what is before it");
                    return;
                }
                Txn txn = Txn.fromBytes(bytes);
                txns.put(txn.zxid(), txn);
            }
        } catch (EOFException e) {
            // The last record of a server that was killed is often half written; it was acknowledged to nobody.
            LOG.log(Level.INFO, "end of " + file.getFileName() + " reached", e);
        }
    }
}
