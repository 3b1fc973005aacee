package ledger;

import java.io.IOException;
import java.util.logging.Logger;

/** Two methods write the same text, and one statement stands in a `finally`. */
public class Ledger {
    private static final Logger LOG = Logger.getLogger("ledger.Ledger");

    void open(String name) throws IOException {
        LOG.info("opening " + name);
        try {
            read(name);
        } finally {
            LOG.info("opened " + name);
        }
        LOG.info("done");
    }

    void close(String name) {
        LOG.info("closing " + name);
        LOG.info("done");
    }

    native void read(String name) throws IOException;
}
