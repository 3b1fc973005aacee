package assign;

import java.io.DataOutputStream;
import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Somebody who is told of changes, in their order. */
final class Watcher {
    private static final long PING_MS = 500;
    private static final Change PING = new Change("PING", "", "", "");

    private final BlockingQueue<Change> queue = new LinkedBlockingQueue<>();

    void tell(Change change) {
        queue.add(change);
    }

    void forward(DataOutputStream out) throws IOException {
        try {
            while (true) {
                Change change = queue.poll(PING_MS, TimeUnit.MILLISECONDS);
                (change == null ? PING : change).write(out);
                out.flush();
            }
        } catch (InterruptedException e) {
            throw new IOException("interrupted", e);
        }
    }
}
