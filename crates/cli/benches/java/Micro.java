import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CyclicBarrier;

/**
 * Times {@code bare.Loop} and {@code hooked.Loop} in turns, in CPU time of the thread, because others use the machine.
 *
 * <p>{@code Micro alone WARM_UP_MS PAIRS SLICE_US} prints {@code pair BARE HOOKED}, in nanoseconds a call.
 * {@code Micro threads THREADS PAIRS HITS} lets all threads hit one site, HITS times each; it prints
 * {@code pair BARE HOOKED} in CPU nanoseconds a hit and at last {@code hits N faults N}.
 */
public final class Micro {
    private static final int CALLS_PER_ITERATION = 4;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private Micro() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("alone")) {
            alone(Long.parseLong(args[1]) * 1_000_000, Integer.parseInt(args[2]), Long.parseLong(args[3]) * 1000);
        } else {
            threads(Integer.parseInt(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3]));
        }
    }

    private interface Work {
        int run(byte[] cells, int iterations);
    }

    private static final Work BARE = (cells, iterations) -> {
        bare.Loop.four(cells, iterations);
        return 0;
    };
    private static final Work HOOKED = (cells, iterations) -> {
        hooked.Loop.four(cells, iterations);
        return 0;
    };

    private static void alone(long warmUpNs, int pairs, long sliceNs) {
        byte[] cells = bare.Loop.cells();
        int bareIterations = iterations(BARE, cells, warmUpNs, sliceNs);
        int hookedIterations = iterations(HOOKED, cells, warmUpNs, sliceNs);
        double[] bareNs = new double[pairs];
        double[] hookedNs = new double[pairs];
        for (int i = 0; i < pairs; i++) {
            boolean bareFirst = i % 2 == 0;
            if (bareFirst) {
                bareNs[i] = time(BARE, cells, bareIterations);
            }
            hookedNs[i] = time(HOOKED, cells, hookedIterations);
            if (!bareFirst) {
                bareNs[i] = time(BARE, cells, bareIterations);
            }
        }
        for (int i = 0; i < pairs; i++) {
            System.out.println("pair " + bareNs[i] + " " + hookedNs[i]);
        }
    }

    /** Warms up; then, how many iterations fill a slice. */
    private static int iterations(Work work, byte[] cells, long warmUpNs, long sliceNs) {
        int iterations = 1000;
        double last = 1;
        long end = THREADS.getCurrentThreadCpuTime() + warmUpNs;
        while (THREADS.getCurrentThreadCpuTime() < end) {
            last = time(work, cells, iterations);
        }
        for (int round = 0; round < 5; round++) {
            iterations = (int) Math.max(100, sliceNs / (last * CALLS_PER_ITERATION));
            last = time(work, cells, iterations);
        }
        return iterations;
    }

    private static double time(Work work, byte[] cells, int iterations) {
        long start = THREADS.getCurrentThreadCpuTime();
        work.run(cells, iterations);
        long time = THREADS.getCurrentThreadCpuTime() - start;
        return (double) time / iterations / CALLS_PER_ITERATION;
    }

    private static void threads(int threads, int pairs, int hits) throws Exception {
        Work bareWork = bare.Loop::one;
        Work hookedWork = hooked.Loop::one;
        long[] result = new long[2];
        long[] cpu = new long[threads];
        int faults = 0;
        // The first pair warms up.
        for (int i = 0; i <= pairs; i++) {
            for (int side = 0; side < 2; side++) {
                Work work = side == 0 ? bareWork : hookedWork;
                CyclicBarrier barrier = new CyclicBarrier(threads);
                Thread[] all = new Thread[threads];
                int[] thrown = new int[threads];
                for (int n = 0; n < threads; n++) {
                    int me = n;
                    all[n] = new Thread(() -> {
                        byte[] cells = bare.Loop.cells();
                        try {
                            barrier.await();
                        } catch (Exception e) {
                            throw new AssertionError(e);
                        }
                        long start = THREADS.getCurrentThreadCpuTime();
                        try {
                            thrown[me] = work.run(cells, hits);
                        } catch (IllegalStateException e) {
                            // Byteman's leaves the method past its handlers, so this thread makes no further hits.
                            thrown[me] = 1;
                        }
                        cpu[me] = THREADS.getCurrentThreadCpuTime() - start;
                    }, "hitter-" + n);
                    all[n].start();
                }
                result[side] = 0;
                for (int n = 0; n < threads; n++) {
                    all[n].join();
                    result[side] += cpu[n];
                    faults += thrown[n];
                }
            }
            if (i > 0) {
                double all = (double) threads * hits;
                System.out.println("pair " + result[0] / all + " " + result[1] / all);
            }
        }
        System.out.println("hits " + (long) threads * hits * (pairs + 1) + " faults " + faults);
    }
}
