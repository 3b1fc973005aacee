package wal;

import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * An online backup: begins a new log file, freezes the peer, waits until the server has sent what is under way, copies
 * the blocks, and thaws the peer. Writes go on all the time; they are only answered late.
 */
final class Backup implements Closeable {
    private static final Logger LOG = Logger.getLogger(Backup.class.getName());
    private static final long CATCH_UP_MS = 1000;
    private static final long POLL_MS = 2;

    private final int serverPort;
    private final int peerPort;
    private final Path directory;
    private Connection server;
    private Connection peer;
    private long position;

    Backup(int serverPort, int peerPort, Path directory) {
        this.serverPort = serverPort;
        this.peerPort = peerPort;
        this.directory = directory;
    }

    void begin() throws IOException {
        Files.createDirectories(directory);
        server = new Connection(serverPort);
        peer = new Connection(peerPort);
        server.call("ROLL");
        position = position();
        peer.call("FREEZE");
    }

    void copy(int edits) throws IOException {
        long deadline = System.nanoTime() + CATCH_UP_MS * 1_000_000;
        while (position() < position + edits) {
            if (System.nanoTime() > deadline) {
                LOG.log(Level.WARNING, "the log is at {0} only, copying it as it is", position());
                break;
            }
            pause();
        }
        peer.send("COPY");
        DataInputStream in = peer.in();
        int blocks = in.readInt();
        for (int i = 0; i < blocks; i++) {
            String name = in.readUTF();
            byte[] bytes = new byte[in.readInt()];
            in.readFully(bytes);
            Files.write(directory.resolve(name), bytes);
        }
        LOG.log(Level.INFO, "copied {0} blocks to {1}", new Object[] {blocks, directory.getFileName()});
        peer.call("THAW");
    }

    private long position() throws IOException {
        return Long.parseLong(server.call("POSITION").substring(3));
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(POLL_MS);
        } catch (InterruptedException e) {
            throw new IOException("interrupted during the backup", e);
        }
    }

    @Override
    public void close() throws IOException {
        if (server != null) {
            server.close();
        }
        if (peer != null) {
            peer.close();
        }
    }
}
