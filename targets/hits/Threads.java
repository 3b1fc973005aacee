package hits;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * `Threads THREADS HITS [END]`: so many threads reach one site so many times each, all at once. Then the program ends: by
 * itself, by `kill`, by `halt`, or by `kill-busy` or `daemons`, for which its threads go on hitting until they are gone.
 */
public class Threads {
    static void hit() {
        nothing();
    }

    static void nothing() {}

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int hits = Integer.parseInt(args[1]);
        AtomicLong exceptions = new AtomicLong();
        CountDownLatch ready = new CountDownLatch(threads);
        CountDownLatch done = new CountDownLatch(threads);
        String end = args.length > 2 ? args[2] : "";
        boolean busy = end.equals("kill-busy") || end.equals("daemons");
        Thread[] all = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            all[t] = new Thread(() -> {
                ready.countDown();
                try {
                    ready.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                for (int n = 0; n < hits; n++) {
                    try {
                        hit();
                    } catch (IllegalStateException e) {
                        exceptions.incrementAndGet();
                    }
                }
                done.countDown();
                while (busy) {
                    hit();
                    Thread.yield();
                }
            }, "hitter-" + t);
            all[t].setDaemon(busy);
            all[t].start();
        }
        done.await();
        for (Thread thread : all) {
            if (!busy) {
                thread.join();
            }
        }
        System.out.println("exceptions " + exceptions);
        if (end.startsWith("kill")) {
            // Nothing of the JVM gets a chance to tidy up.
            new ProcessBuilder("kill", "-9", String.valueOf(ProcessHandle.current().pid())).start();
            Thread.currentThread().join();
        }
        if (end.equals("halt")) {
            Runtime.getRuntime().halt(7);
        }
    }
}
