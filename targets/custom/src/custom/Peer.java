package custom;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.BlockingQueue;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A replica as the coordinator sees it. Its digests go to a queue, in the order in which they come. */
final class Peer implements Closeable {
    private static final Logger LOG = Logger.getLogger(Peer.class.getName());
    private static final int CONNECT_MS = 1000;

    private final String name;
    private final BlockingQueue<Digest> digests;
    private final Socket socket = new Socket();
    private final DataOutputStream out;
    private volatile boolean isBroken;

    Peer(String name, int port, BlockingQueue<Digest> digests) throws IOException {
        this.name = name;
        this.digests = digests;
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MS);
        socket.setTcpNoDelay(true);
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        Thread reader = new Thread(this::read, "Reader-" + name);
        reader.setDaemon(true);
        reader.start();
    }

    boolean isBroken() {
        return isBroken;
    }

    synchronized void ask(String range) throws IOException {
        out.writeUTF(range);
        out.flush();
    }

    private void read() {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()))) {
            while (true) {
                String range = in.readUTF();
                digests.add(new Digest(name, range, in.readUTF()));
            }
        } catch (IOException e) {
            LOG.log(Level.INFO, "{0} is gone: {1}", new Object[] {name, e.toString()});
            isBroken = true;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
