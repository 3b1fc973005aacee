package hits;

import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.atomic.AtomicLong;

/**
 * `Rounds THREADS AFTER`: so many threads do the same rounds, which differ by their numbers alone. When they have done so many of them
 * together, the JVM is killed, and they go on until it is gone.
 */
public class Rounds {
    /** A bound for the disk that a slow kill costs. */
    private static final int ROUNDS_MAX = 3_000;

    static void round(int n) {
        for (int i = 0; i < n % 4; i++) {
            step(n + i);
        }
        if (n % 3 == 0) {
            third();
        }
    }

    static void step(int n) {
        if (n % 2 == 0) {
            even();
        }
    }

    static void even() {}

    static void third() {}

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        long after = Long.parseLong(args[1]);
        AtomicLong rounds = new AtomicLong();
        // It stands ready, so that the kill comes while the threads are at work.
        String kill = "read go; kill -9 " + ProcessHandle.current().pid();
        OutputStream killer = new ProcessBuilder("sh", "-c", kill).start().getOutputStream();
        for (int t = 0; t < threads; t++) {
            Thread thread = new Thread(() -> {
                for (int n = 0; n < ROUNDS_MAX; n++) {
                    round(n);
                    if (rounds.incrementAndGet() == after) {
                        go(killer);
                    }
                }
            }, "rounds-" + t);
            thread.start();
        }
        Thread.currentThread().join();
    }

    private static void go(OutputStream killer) {
        try {
            killer.write('\n');
            killer.flush();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
