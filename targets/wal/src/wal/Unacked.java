package wal;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The edits that were given to a stream and are not acknowledged yet, in the order of the log. After a stream broke
 * they stay here until its successor has acknowledged them; {@code resend} are those the successor has not been given
 * yet, always the tail of the whole. Guarded by the lock of the log.
 */
final class Unacked {
    private final Deque<Edit> edits = new ArrayDeque<>();
    private Deque<Edit> resend = new ArrayDeque<>();

    void add(Edit edit) {
        edits.addLast(edit);
    }

    int size() {
        return edits.size();
    }

    boolean isEmpty() {
        return edits.isEmpty();
    }

    /** How many edits the present stream has been given and has not acknowledged. */
    int inFlight() {
        return edits.size() - resend.size();
    }

    boolean isResending() {
        return !resend.isEmpty();
    }

    /** The stream is lost: its successor has to be given everything again. */
    void resendAll() {
        resend = new ArrayDeque<>(edits);
    }

    /** The next edit to be given again, or null. It stays unacknowledged. */
    Edit nextToResend() {
        return resend.pollFirst();
    }

    List<Edit> acknowledge(long txid) {
        List<Edit> done = new ArrayList<>();
        while (!edits.isEmpty() && edits.peekFirst().txid() <= txid) {
            done.add(edits.pollFirst());
        }
        return done;
    }
}
