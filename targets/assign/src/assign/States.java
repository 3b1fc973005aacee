package assign;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.TreeMap;

/** The states of regions, on disk: a line a change, and the file is written anew at each start. */
final class States {
    private final Path path;
    private final Map<String, String[]> states = new TreeMap<>();

    States(Path directory) throws IOException {
        this.path = Files.createDirectories(directory).resolve("states");
        String text = read();
        // A line that was cut short was never acknowledged.
        text.substring(0, text.lastIndexOf('\n') + 1).lines().map(it -> it.split(" ")).forEach(this::put);
        StringBuilder whole = new StringBuilder();
        states.forEach((region, it) -> whole.append(line(region, it[0], it[1])));
        Path next = directory.resolve("states.tmp");
        Files.writeString(next, whole);
        Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private String read() throws IOException {
        try {
            return Files.readString(path);
        } catch (NoSuchFileException e) {
            return "";
        }
    }

    private void put(String[] parts) {
        states.put(parts[0], new String[] {parts[1], parts[2]});
    }

    private static String line(String region, String state, String server) {
        return region + " " + state + " " + server + "\n";
    }

    void set(String region, String state, String server) throws IOException {
        Files.writeString(path, line(region, state, server), StandardOpenOption.APPEND);
        states.put(region, new String[] {state, server});
    }

    /** State and server of each region. */
    Map<String, String[]> all() {
        return states;
    }
}
