package probe;

import java.lang.management.ManagementFactory;

/** Measures how long each round takes, and how much of it the thread computes; `Delays interrupted` interrupts itself. */
public class Delays {
    static void hit() {
        nothing();
    }

    static void nothing() {}

    static void round(int n) {
        long wall = System.nanoTime();
        long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        hit();
        cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu;
        wall = System.nanoTime() - wall;
        System.out.println("round " + n + " wall_ms " + wall / 1_000_000 + " cpu_ms " + cpu / 1_000_000
                + " interrupted " + Thread.interrupted());
    }

    public static void main(String[] args) throws Exception {
        if (!args[0].equals("interrupted")) {
            for (int n = 1; n <= Integer.parseInt(args[0]); n++) {
                round(n);
            }
            return;
        }
        Thread sleeper = new Thread(() -> round(1), "sleeper");
        sleeper.start();
        // The thread waits for a time only where the tool makes it.
        while (sleeper.isAlive() && sleeper.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        sleeper.interrupt();
        sleeper.join();
    }
}
