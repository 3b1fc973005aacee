package wal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A disk that goes bad now and then, for a system that fails by itself in some runs. {@code --flaky BLOCK --of 5 --runs FILE}: in every
 * fifth run the first answer for a block is bad. Runs are counted in a file, which outlives them.
 */
final class Flaky {
    private Flaky() {}

    /** The block of which the first answer is bad in this run; none in most runs. */
    static String block(Options options) throws IOException {
        String block = options.text("flaky", "");
        if (block.isEmpty()) {
            return block;
        }
        Path runs = Path.of(options.text("runs"));
        Files.writeString(runs, "run\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        return Files.readAllLines(runs).size() % options.number("of", 5) == 0 ? block : "";
    }
}
