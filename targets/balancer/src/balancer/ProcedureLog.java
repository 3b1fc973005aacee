package balancer;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Regions that were to be opened, in a file, for a master that starts again. */
final class ProcedureLog implements Closeable {
    private static final Logger LOG = Logger.getLogger(ProcedureLog.class.getName());

    private final Path path;

    ProcedureLog() throws IOException {
        path = Files.createTempFile("balancer-", ".procedures");
    }

    /** A region that cannot be noted is opened all the same. */
    void started(List<Region> regions) {
        try {
            Files.write(path, regions.stream().map(Region::name).toList(), StandardOpenOption.APPEND);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "the log lacks some regions", e);
        }
    }

    List<Region> read() throws IOException {
        List<Region> regions = new ArrayList<>();
        for (String line : Files.readAllLines(path)) {
            try {
                regions.add(Region.parse(line));
            } catch (BadNameException e) {
                LOG.log(Level.WARNING, "skipping a line", e);
            }
        }
        return regions;
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(path);
    }
}
