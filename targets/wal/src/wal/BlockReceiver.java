package wal;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Takes the packets of one log file off the connection and hands them to the writer, which answers. */
final class BlockReceiver {
    private static final Logger LOG = Logger.getLogger(BlockReceiver.class.getName());

    private final BlockStore store;
    private final String block;

    BlockReceiver(BlockStore store, String block) {
        this.store = store;
        this.block = block;
    }

    void receive(DataInputStream in, DataOutputStream out) throws IOException {
        try (BlockWriter writer = new BlockWriter(store, block, out)) {
            new Ack(Ack.Status.SUCCESS, 0).write(out);
            writer.start();
            while (!writer.isDone()) {
                writer.add(Packet.read(in));
            }
        } catch (EOFException e) {
            LOG.log(Level.INFO, "{0} is complete", block);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "receiving " + block + " ended early", e);
        }
    }
}
