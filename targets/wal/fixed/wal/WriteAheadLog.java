package wal;

import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The log of the region server. Writers put edits into a queue; the consumer gives them to the present stream, a
 * batch a packet; answers of the peer complete the futures. A stream that is full or broken is given nothing more and
 * replaced by the roller. What a broken one had not acknowledged is sent again, one batch at a time, so that a second
 * break costs one batch. A roll first brings the log to a safe point, at which the consumer rests and the old stream
 * owes no answer.
 */
final class WriteAheadLog {
    private static final Logger LOG = Logger.getLogger(WriteAheadLog.class.getName());
    private static final int MAX_UNACKED = 4096;
    private static final int BATCH_BYTES = 8 << 10;
    private static final long ROLL_BYTES = 64 << 10;

    private final int peerPort;
    private final EditQueue queue = new EditQueue();
    private final ExecutorService consumer = Executors.newSingleThreadExecutor(r -> new Thread(r, "WalConsumer"));
    private final AtomicBoolean scheduled = new AtomicBoolean();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition readyForRollingCond = lock.newCondition();
    private final Unacked unacked = new Unacked();
    private LogStream stream;
    private Runnable rollRequest = () -> {};
    private boolean broken;
    private boolean rollRequested;
    private boolean waitingRoll;
    private boolean readyForRolling;
    private volatile long highestAppended;
    private int streams;

    WriteAheadLog(int peerPort) throws IOException {
        this.peerPort = peerPort;
        this.stream = openStream();
        new AckReader(stream, this).start();
    }

    void onRollRequest(Runnable request) {
        rollRequest = request;
    }

    SyncFuture append(String key, String value) throws IOException {
        SyncFuture future = queue.add(key, value);
        schedule();
        return future;
    }

    /** The txid of the last edit that was given to a stream. */
    long highestAppended() {
        return highestAppended;
    }

    private void schedule() {
        if (scheduled.compareAndSet(false, true)) {
            consumer.execute(this::consume);
        }
    }

    private void consume() {
        lock.lock();
        try {
            scheduled.set(false);
            if (broken) {
                return;
            }
            if (waitingRoll) {
                trySetReadyForRolling();
                return;
            }
            if (rollRequested || unacked.isResending() && unacked.inFlight() > 0) {
                return;
            }
            appendAndSync();
            if (!queue.isEmpty() && !unacked.isResending() && unacked.size() < MAX_UNACKED) {
                schedule();
            }
        } finally {
            lock.unlock();
        }
    }

    private void appendAndSync() {
        try {
            Edit edit;
            while (stream.gatheredBytes() < BATCH_BYTES && (edit = nextEdit()) != null) {
                stream.append(edit);
                highestAppended = Math.max(highestAppended, edit.txid());
            }
            if (stream.gatheredBytes() > 0) {
                stream.sync();
            }
        } catch (IOException e) {
            syncFailed(stream, e);
        }
    }

    private Edit nextEdit() {
        Edit edit = unacked.nextToResend();
        if (edit == null && unacked.size() < MAX_UNACKED) {
            edit = queue.poll();
            if (edit != null) {
                unacked.add(edit);
            }
        }
        return edit;
    }

    void syncCompleted(LogStream from, long txid) {
        boolean request = false;
        lock.lock();
        try {
            if (from != stream || broken) {
                return;
            }
            for (Edit edit : unacked.acknowledge(txid)) {
                edit.future().complete();
            }
            if (waitingRoll) {
                trySetReadyForRolling();
            } else if (stream.length() >= ROLL_BYTES && !rollRequested) {
                rollRequested = true;
                request = true;
            }
        } finally {
            lock.unlock();
        }
        if (request) {
            LOG.log(Level.INFO, "{0} is full, requesting a roll", from.name());
            rollRequest.run();
        }
        schedule();
    }

    void syncFailed(LogStream from, IOException error) {
        lock.lock();
        try {
            if (from != stream || broken) {
                LOG.log(Level.INFO, "late error of {0}, already replaced: {1}", new Object[] {from.name(), error});
                return;
            }
            LOG.log(Level.WARNING, "sync failed on " + from.name() + ", the stream is broken", error);
            broken = true;
            unacked.resendAll();
            if (waitingRoll) {
                // In the middle of a roll: the broken stream owes no answer, and the new one is about to come.
                readyForRolling = true;
                readyForRollingCond.signalAll();
                return;
            }
            rollRequested = true;
        } finally {
            lock.unlock();
        }
        rollRequest.run();
    }

    private void trySetReadyForRolling() {
        if (unacked.inFlight() == 0) {
            readyForRolling = true;
            readyForRollingCond.signalAll();
        }
    }

    /** Only for the roller. */
    void roll() throws IOException {
        LogStream next = openStream();
        waitForSafePoint();
        LogStream old = stream;
        lock.lock();
        try {
            stream = next;
            broken = false;
            rollRequested = false;
            waitingRoll = false;
            new AckReader(next, this).start();
            LOG.log(Level.INFO, "rolled {0} with {1} bytes to {2}, {3} edits not acknowledged",
                    new Object[] {old.name(), old.length(), next.name(), unacked.size()});
        } finally {
            lock.unlock();
        }
        schedule();
        try {
            old.close();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot close " + old.name() + ", leaving it to the peer", e);
        }
    }

    private void waitForSafePoint() {
        lock.lock();
        try {
            if (broken) {
                return;
            }
            readyForRolling = false;
            waitingRoll = true;
            schedule();
            while (!readyForRolling) {
                readyForRollingCond.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    private LogStream openStream() throws IOException {
        LogStream opened = LogStream.open(peerPort, String.format("wal.%05d", streams + 1));
        streams++;
        return opened;
    }
}
