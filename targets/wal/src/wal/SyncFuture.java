package wal;

import java.io.InterruptedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** What the writer of an edit waits for: the edit is safe at the peer. A break of a stream does not end the waiting. */
final class SyncFuture {
    private final long txid;
    private final CountDownLatch done = new CountDownLatch(1);

    SyncFuture(long txid) {
        this.txid = txid;
    }

    void complete() {
        done.countDown();
    }

    void get(long timeoutMs) throws TimeoutIOException, InterruptedIOException {
        try {
            if (!done.await(timeoutMs, TimeUnit.MILLISECONDS)) {
                throw new TimeoutIOException("Failed to get sync result after " + timeoutMs + " ms for txid=" + txid
                        + ", WAL system stuck?");
            }
        } catch (InterruptedException e) {
            throw new InterruptedIOException("interrupted while waiting for txid=" + txid);
        }
    }
}
