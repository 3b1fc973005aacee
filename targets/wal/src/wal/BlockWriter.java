package wal;

import java.io.Closeable;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Writes packets to the file of a block. What is there at once is made durable at once, and answered by one ack. */
final class BlockWriter implements Runnable, Closeable {
    private static final Logger LOG = Logger.getLogger(BlockWriter.class.getName());
    private static final int QUEUE = 4096;
    private static final int GROUP_BYTES = 128 << 10;
    private static final long SLOW_MS = 50;

    private final BlockStore store;
    private final String block;
    private final FileChannel file;
    private final DataOutputStream acks;
    private final BlockingQueue<Packet> queue = new ArrayBlockingQueue<>(QUEUE);
    private Thread thread;
    private volatile boolean done;

    BlockWriter(BlockStore store, String block, DataOutputStream acks) throws IOException {
        this.store = store;
        this.block = block;
        this.acks = acks;
        this.file = FileChannel.open(store.path(block), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    }

    void start() {
        thread = new Thread(this, "BlockWriter-" + block);
        thread.setDaemon(true);
        thread.start();
    }

    boolean isDone() {
        return done;
    }

    void add(Packet packet) throws InterruptedIOException {
        try {
            queue.put(packet);
        } catch (InterruptedException e) {
            throw new InterruptedIOException("interrupted with packet " + packet.number());
        }
    }

    @Override
    public void run() {
        try {
            while (!done) {
                Packet first = queue.take();
                long startNs = System.nanoTime();
                store.beginWrite();
                try {
                    answer(first);
                } finally {
                    store.endWrite();
                }
                long tookMs = (System.nanoTime() - startNs) / 1_000_000;
                if (tookMs > SLOW_MS) {
                    LOG.log(Level.WARNING, "slow write of {0}: {1} ms", new Object[] {block, tookMs});
                }
            }
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot answer the writer of " + block, e);
        } catch (InterruptedException e) {
            LOG.log(Level.INFO, "{0} ends", block);
        }
        done = true;
    }

    private void answer(Packet first) throws IOException {
        Ack ack;
        try {
            ack = writeGroup(first);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot write " + block, e);
            ack = new Ack(Ack.Status.ERROR, first.number());
        }
        done = ack.status() != Ack.Status.SUCCESS;
        ack.write(acks);
    }

    private Ack writeGroup(Packet first) throws IOException {
        Packet packet = first;
        int bytes = 0;
        while (true) {
            if (store.isBad(block)) {
                return new Ack(Ack.Status.ERROR, packet.number());
            }
            if (store.mustRelocate()) {
                LOG.log(Level.INFO, "{0} is to be relocated", block);
                return new Ack(Ack.Status.RELOCATED, packet.number());
            }
            ByteBuffer buffer = ByteBuffer.wrap(packet.bytes());
            while (buffer.hasRemaining()) {
                file.write(buffer);
            }
            bytes += packet.bytes().length;
            Packet next = bytes < GROUP_BYTES ? queue.poll() : null;
            if (next == null) {
                break;
            }
            packet = next;
        }
        file.force(false);
        return new Ack(Ack.Status.SUCCESS, packet.number());
    }

    @Override
    public void close() throws IOException {
        done = true;
        if (thread != null) {
            thread.interrupt();
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new InterruptedIOException("interrupted while closing " + block);
            }
        }
        file.close();
    }
}
