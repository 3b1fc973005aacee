package store;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Something that can go wrong in several ways, of which one is noticed late. */
public class Store {
    private static final Logger LOG = Logger.getLogger("store.Store");
    private boolean dirty;

    public void load(InputStream in) {
        try {
            in.read();
            in.read(new byte[4]);
            LOG.info("loaded");
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot load", e);
        }
    }

    public void save(OutputStream out) {
        try {
            out.write(1);
            out.write(new byte[4]);
            out.flush();
            LOG.info("saved");
        } catch (IOException e) {
            dirty = true;
            LOG.log(Level.WARNING, "cannot save", e);
        }
    }

    public void close(Closeable it) {
        try {
            it.close();
        } catch (IOException e) {
            dirty = true;
        }
        if (dirty) {
            LOG.severe("edits are lost");
        }
    }
}
