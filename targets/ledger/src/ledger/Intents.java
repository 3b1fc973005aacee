package ledger;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The transfers that have begun and not ended, on disk. Who finds one open long after it began has to undo it. */
final class Intents implements Closeable {
    private final FileChannel channel;
    private final Map<Long, Open> open = new TreeMap<>();

    private record Open(Transfer transfer, long sinceNs) {}

    Intents(Path directory) throws IOException {
        Path path = Files.createDirectories(directory).resolve("intents");
        this.channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    synchronized void begin(Transfer transfer) throws IOException {
        write("BEGIN", transfer);
        channel.force(false);
        open.put(transfer.id(), new Open(transfer, System.nanoTime()));
    }

    /** Not forced to disk: one whose end was lost is undone once more, which changes nothing, or undone for good. */
    synchronized void end(Transfer transfer, String how) throws IOException {
        write(how, transfer);
        open.remove(transfer.id());
    }

    private void write(String kind, Transfer transfer) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeUTF(kind);
        out.writeLong(transfer.id());
        transfer.write(out);
        channel.write(ByteBuffer.wrap(bytes.toByteArray()));
    }

    synchronized int count() {
        return open.size();
    }

    /** Those that began longer ago than this. */
    synchronized List<Transfer> older(long ageMs) {
        long before = System.nanoTime() - ageMs * 1_000_000;
        List<Transfer> old = new ArrayList<>();
        for (Open it : open.values()) {
            if (it.sinceNs() < before) {
                old.add(it.transfer());
            }
        }
        return old;
    }

    @Override
    public synchronized void close() throws IOException {
        channel.close();
    }
}
