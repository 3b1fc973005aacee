package wal;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The storage process: keeps the log files that a server streams to it. */
public final class Peer {
    private static final Logger LOG = Logger.getLogger(Peer.class.getName());

    private Peer() {}

    public static void main(String[] args) throws IOException {
        Logging.install();
        Options options = new Options(args);
        int port = options.number("port", 7102);
        BlockStore store = new BlockStore(
                Path.of(options.text("data")), options.number("relocate-every", 550), Flaky.block(options));
        try (ServerSocket socket = new ServerSocket(port, 50, InetAddress.getLoopbackAddress())) {
            Thread scanner = new Thread(new BlockScanner(store), "BlockScanner");
            scanner.setDaemon(true);
            scanner.start();
            LOG.log(Level.INFO, "peer is serving on port {0}", Integer.toString(port));
            Thread.currentThread().setName("PeerAcceptor");
            for (int connections = 1; ; connections++) {
                accept(socket, store, connections);
            }
        }
    }

    private static void accept(ServerSocket socket, BlockStore store, int number) {
        try {
            Socket connection = socket.accept();
            connection.setTcpNoDelay(true);
            Thread thread = new Thread(new PeerSession(store, connection), "PeerSession-" + number);
            thread.setDaemon(true);
            thread.start();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot take a connection, going on", e);
        }
    }
}
