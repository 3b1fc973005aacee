package wal;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Ends the client if nothing moves, so that a run that hangs has an end. */
final class Watchdog implements Runnable {
    private static final Logger LOG = Logger.getLogger(Watchdog.class.getName());
    private static final long LIMIT_MS = 5000;

    private volatile long fedNs = System.nanoTime();

    Watchdog() {
        Thread thread = new Thread(this, "Watchdog");
        thread.setDaemon(true);
        thread.start();
    }

    void feed() {
        fedNs = System.nanoTime();
    }

    @Override
    public void run() {
        long limitNs = TimeUnit.MILLISECONDS.toNanos(LIMIT_MS);
        for (long leftNs = limitNs; leftNs > 0; leftNs = fedNs + limitNs - System.nanoTime()) {
            LockSupport.parkNanos(leftNs);
        }
        LOG.log(Level.SEVERE, "no progress for {0} ms, giving up", Long.toString(LIMIT_MS));
        System.exit(1);
    }
}
