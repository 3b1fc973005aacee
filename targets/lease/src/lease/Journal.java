package lease;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The journal of a shard: entries are appended and forced to disk, one by one. */
final class Journal implements Closeable {
    private final FileChannel channel;
    private final Map<String, String> values = new HashMap<>();

    private Journal(FileChannel channel, List<Entry> entries) {
        this.channel = channel;
        entries.forEach(entry -> values.put(entry.key(), entry.value()));
    }

    static Path path(Path directory, int shard) {
        return directory.resolve("shard-" + shard + ".journal");
    }

    static Journal open(Path path) throws IOException {
        List<Entry> entries = Files.exists(path) ? read(path) : List.of();
        return new Journal(FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND), entries);
    }

    /** All whole entries of a journal; one that is being written may be cut short. */
    static List<Entry> read(Path path) throws IOException {
        List<Entry> entries = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(path)))) {
            while (true) {
                entries.add(Entry.read(in));
            }
        } catch (EOFException e) {
            return entries;
        }
    }

    synchronized void append(Entry entry) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        entry.write(new DataOutputStream(bytes));
        channel.write(ByteBuffer.wrap(bytes.toByteArray()));
        channel.force(false);
        values.put(entry.key(), entry.value());
    }

    synchronized String find(String key) {
        return values.get(key);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
