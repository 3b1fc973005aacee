package wal;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** One connection to the peer: a log being written, heartbeats, or a backup. */
final class PeerSession implements Runnable {
    private static final Logger LOG = Logger.getLogger(PeerSession.class.getName());

    private final BlockStore store;
    private final Socket socket;

    PeerSession(BlockStore store, Socket socket) {
        this.store = store;
        this.socket = socket;
    }

    @Override
    public void run() {
        try (socket;
                DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
                DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()))) {
            while (serve(in, out)) {
                out.flush();
            }
        } catch (EOFException e) {
            LOG.info("client has gone");
        } catch (IOException e) {
            LOG.log(Level.WARNING, "connection lost", e);
        } finally {
            // A backup that died must not keep the store frozen.
            if (store.isFrozenByMe()) {
                LOG.warning("backup ended without thaw, thawing");
                store.thaw();
            }
        }
    }

    private boolean serve(DataInputStream in, DataOutputStream out) throws IOException {
        String operation = in.readUTF();
        switch (operation) {
            case "WRITE":
                new BlockReceiver(store, in.readUTF()).receive(in, out);
                return false;
            case "BEAT":
                in.readLong();
                out.writeUTF(store.isFrozen() ? "BUSY" : "ALIVE");
                return true;
            case "FREEZE":
                store.freeze();
                out.writeUTF("FROZEN");
                return true;
            case "THAW":
                store.thaw();
                out.writeUTF("THAWED");
                return true;
            case "COPY":
                store.copyTo(out);
                return true;
            default:
                throw new IOException("unknown operation " + operation);
        }
    }
}
