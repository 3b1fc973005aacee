package wal;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Reads the newest block now and then, to find rotten disks early. A block being written may end in half an edit. */
final class BlockScanner implements Runnable {
    private static final Logger LOG = Logger.getLogger(BlockScanner.class.getName());
    private static final long PERIOD_MS = 250;

    private final BlockStore store;

    BlockScanner(BlockStore store) {
        this.store = store;
    }

    @Override
    public void run() {
        try {
            while (true) {
                try {
                    List<Path> blocks = store.blocks();
                    if (!blocks.isEmpty()) {
                        scan(blocks.get(blocks.size() - 1));
                    }
                } catch (IOException e) {
                    LOG.log(Level.WARNING, "scan given up, next one in " + PERIOD_MS + " ms", e);
                }
                Thread.sleep(PERIOD_MS);
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
    }

    private void scan(Path block) throws IOException {
        long last = 0;
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(block)))) {
            while (true) {
                long txid = in.readLong();
                in.readUTF();
                in.readUTF();
                if (txid <= last) {
                    throw new IOException(block.getFileName() + " goes back from " + last + " to " + txid);
                }
                last = txid;
            }
        } catch (EOFException e) {
            if (last == 0) {
                LOG.log(Level.WARNING, "nothing readable in " + block.getFileName() + " yet", e);
            }
        }
    }
}
