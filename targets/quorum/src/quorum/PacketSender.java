package quorum;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Sends what is queued for one peer, so that a slow peer delays nobody but itself. */
final class PacketSender implements Runnable, Closeable {
    private static final Logger LOG = Logger.getLogger(PacketSender.class.getName());

    private final Socket socket;
    private final DataOutputStream out;
    private final BlockingQueue<Message> queue = new LinkedBlockingQueue<>();
    private volatile boolean open = true;
    private Thread thread;

    PacketSender(Socket socket) throws IOException {
        this.socket = socket;
        this.out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
    }

    void start(String name) {
        thread = new Thread(this, name);
        thread.setDaemon(true);
        thread.start();
    }

    void add(Message message) {
        queue.add(message);
    }

    int size() {
        return queue.size();
    }

    @Override
    public void run() {
        try {
            while (open) {
                queue.take().writeTo(out);
            }
        } catch (IOException e) {
            if (open) {
                LOG.log(Level.WARNING, "cannot send, closing the connection to the peer", e);
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted while waiting for a message to send, " + queue.size() + " unsent");
        } finally {
            close();
        }
    }

    /** Whoever reads the same socket sees its end, and that is how both sides of a connection end together. */
    @Override
    public void close() {
        open = false;
        if (thread != null && thread != Thread.currentThread()) {
            thread.interrupt();
        }
        try {
            socket.close();
        } catch (IOException e) {
            LOG.log(Level.INFO, "cannot close a socket", e);
        }
    }
}
