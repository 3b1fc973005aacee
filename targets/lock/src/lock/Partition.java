package lock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A part of the keys: a file of everything that was merged, and segments with what came later. Ingest adds segments and mergers
 * take them away, so whoever reads may have to begin again.
 */
final class Partition {
    private static final String SEGMENT = "segment-";

    private final Path directory;
    private final Path merged;

    Partition(Path data, int number) throws IOException {
        this.directory = Files.createDirectories(data.resolve("partition-" + number));
        this.merged = directory.resolve("merged");
    }

    Path directory() {
        return directory;
    }

    List<Path> segments() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(it -> it.getFileName().toString().startsWith(SEGMENT)).sorted().toList();
        }
    }

    /** A segment that is written twice is the same. */
    void add(int number, String text) throws IOException {
        replace(directory.resolve("new-" + number), directory.resolve(String.format("%s%04d", SEGMENT, number)), text);
    }

    /** Everything that is there: segments before what was merged, since a segment goes only when it is part of that. */
    Map<String, String> read() throws IOException {
        while (true) {
            try {
                Map<String, String> later = new TreeMap<>();
                for (Path segment : segments()) {
                    later.putAll(parse(Files.readString(segment)));
                }
                Map<String, String> all = parse(mergedText());
                all.putAll(later);
                return all;
            } catch (NoSuchFileException e) {
                // A merger was faster: its segment is merged by now.
            }
        }
    }

    /** Merges all segments. Whoever is cut short leaves segments that are merged again. */
    int merge() throws IOException {
        List<Path> segments = segments();
        Map<String, String> all = parse(mergedText());
        for (Path segment : segments) {
            all.putAll(parse(Files.readString(segment)));
        }
        StringBuilder text = new StringBuilder();
        all.forEach((key, value) -> text.append(key).append('=').append(value).append('\n'));
        replace(directory.resolve("merging"), merged, text.toString());
        for (Path segment : segments) {
            Files.deleteIfExists(segment);
        }
        return segments.size();
    }

    private String mergedText() throws IOException {
        try {
            return Files.readString(merged);
        } catch (NoSuchFileException e) {
            return "";
        }
    }

    private static void replace(Path beside, Path path, String text) throws IOException {
        Files.writeString(beside, text);
        Files.move(beside, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static Map<String, String> parse(String text) {
        Map<String, String> entries = new TreeMap<>();
        text.lines().forEach(line -> {
            int at = line.indexOf('=');
            entries.put(line.substring(0, at), line.substring(at + 1));
        });
        return entries;
    }
}
