package wal;

import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The thread that replaces the stream of the log, when it is full, broken, or somebody asks. */
final class LogRoller implements Runnable {
    private static final Logger LOG = Logger.getLogger(LogRoller.class.getName());
    private static final long RETRY_MS = 50;

    private final WriteAheadLog log;
    private long requested;
    private long rolled;

    LogRoller(WriteAheadLog log) {
        this.log = log;
        log.onRollRequest(this::request);
    }

    synchronized void request() {
        requested++;
        notifyAll();
    }

    /** Asks for a roll and waits until it is done. */
    synchronized void requestAndWait(long timeoutMs) throws IOException, InterruptedException {
        long mine = ++requested;
        notifyAll();
        long deadline = System.nanoTime() + timeoutMs * 1_000_000;
        while (rolled < mine) {
            long leftMs = (deadline - System.nanoTime()) / 1_000_000;
            if (leftMs <= 0) {
                throw new TimeoutIOException("log not rolled after " + timeoutMs + " ms");
            }
            wait(leftMs);
        }
    }

    @Override
    public void run() {
        try {
            while (true) {
                long upTo = awaitRequest();
                try {
                    log.roll();
                    finished(upTo);
                } catch (IOException e) {
                    LOG.log(Level.WARNING, "roll failed, trying again in " + RETRY_MS + " ms", e);
                    Thread.sleep(RETRY_MS);
                }
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
    }

    private synchronized long awaitRequest() throws InterruptedException {
        while (requested == rolled) {
            wait();
        }
        return requested;
    }

    private synchronized void finished(long upTo) {
        rolled = upTo;
        notifyAll();
    }
}
