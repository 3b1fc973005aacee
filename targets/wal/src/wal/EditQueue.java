package wal;

import java.io.InterruptedIOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** The edits on their way from the writers to the consumer of the log, numbered in the order in which they stand. */
final class EditQueue {
    private static final int CAPACITY = 4096;

    private final BlockingQueue<Edit> edits = new ArrayBlockingQueue<>(CAPACITY);
    private long nextTxid = 1;

    /** Numbering and queueing are one step, or two writers could stand in the wrong order. */
    synchronized SyncFuture add(String key, String value) throws InterruptedIOException {
        Edit edit = new Edit(nextTxid, key, value);
        try {
            edits.put(edit);
        } catch (InterruptedException e) {
            throw new InterruptedIOException("interrupted while appending " + key);
        }
        nextTxid++;
        return edit.future();
    }

    /** The next edit, or null. */
    Edit poll() {
        return edits.poll();
    }

    boolean isEmpty() {
        return edits.isEmpty();
    }
}
