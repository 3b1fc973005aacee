package journal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Logger;

/** Calls the same method twice, and notices in one place that it failed. */
public class Journal {
    private static final Logger LOG = Logger.getLogger("journal.Journal");

    public void compact(Path part, Path whole) {
        try {
            open(part);
            Files.move(part, whole);
            open(whole);
        } catch (IOException e) {
            LOG.warning("cannot compact");
        }
    }

    private static void open(Path path) throws IOException {
        Files.newOutputStream(path).close();
    }
}
