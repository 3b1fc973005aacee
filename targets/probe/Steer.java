package probe;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Two threads, `early` and `late`, that each do one step; by itself the early one is first. Also a branch and a constant of each type.
 */
public class Steer {
    static final StringBuffer DONE = new StringBuffer();

    static class Gate {}

    static void step(String name) {
        DONE.append(name).append(' ');
    }

    static void early() {
        step("early");
    }

    static void late() {
        step("late");
    }

    /** The late thread begins when the early one has begun, and takes its time. */
    static void race(CountDownLatch begun) {
        try {
            begun.await();
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        late();
    }

    static void both(Thread early, Thread late) throws InterruptedException {
        early.start();
        late.start();
        early.join();
        late.join();
        System.out.println(DONE.toString().trim());
    }

    static void order() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        Thread early = new Thread(() -> { begun.countDown(); early(); }, "early");
        both(early, new Thread(() -> race(begun), "late"));
    }

    /** The early thread holds what the late one needs. */
    static void monitor() throws InterruptedException {
        Object gate = new Gate();
        CountDownLatch held = new CountDownLatch(1);
        Thread early = new Thread(() -> {
            synchronized (gate) {
                held.countDown();
                early();
            }
        }, "early");
        Thread late = new Thread(() -> {
            try {
                held.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            synchronized (gate) {
                late();
            }
        }, "late");
        both(early, late);
    }

    /** As above, with a lock of the library, and a third thread between the two. */
    static void lock() throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        Object gate = new Gate();
        CountDownLatch held = new CountDownLatch(2);
        Thread early = new Thread(() -> {
            lock.lock();
            held.countDown();
            await(held);
            early();
            lock.unlock();
        }, "early");
        Thread between = new Thread(() -> {
            synchronized (gate) {
                held.countDown();
                await(held);
                lock.lock();
                lock.unlock();
            }
        }, "between");
        Thread late = new Thread(() -> {
            await(held);
            synchronized (gate) {
                late();
            }
        }, "late");
        between.start();
        both(early, late);
        between.join();
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** By reflection, so that this compiles for every JDK. */
    static void virtual() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        Thread early = unstarted("early", () -> { begun.countDown(); early(); });
        both(early, unstarted("late", () -> race(begun)));
    }

    static Thread unstarted(String name, Runnable work) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        type.getMethod("name", String.class).invoke(builder, name);
        return (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, work);
    }

    /** The early thread is interrupted before its step, and still is behind it. */
    static void interrupted() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        Thread early = new Thread(() -> {
            Thread.currentThread().interrupt();
            begun.countDown();
            early();
            step(Thread.interrupted() ? "interrupted" : "lost");
        }, "early");
        both(early, new Thread(() -> race(begun), "late"));
    }

    static String sign(int number) {
        if (number > 0) {
            return "positive";
        }
        return "other";
    }

    static int five() {
        return 5;
    }

    static int large() {
        return 1234567;
    }

    static long wide() {
        return 5000000000L;
    }

    static long zero() {
        return 0;
    }

    static float single() {
        return 1.5f;
    }

    static double real() {
        return 2.5;
    }

    static String text() {
        return "text";
    }

    static boolean truth() {
        return true;
    }

    static void constants() {
        System.out.println(five() + " " + large() + " " + wide() + " " + zero() + " " + single() + " " + real() + " " + text() + " " + truth());
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "order":
                order();
                break;
            case "monitor":
                monitor();
                break;
            case "lock":
                lock();
                break;
            case "virtual":
                virtual();
                break;
            case "interrupted":
                interrupted();
                break;
            case "early":
                early();
                System.out.println("early");
                break;
            case "late":
                late();
                System.out.println("late");
                break;
            case "branch":
                for (int number = 1; number <= Integer.parseInt(args[1]); number++) {
                    System.out.println(sign(number));
                }
                break;
            case "constants":
                for (int number = 1; number <= Integer.parseInt(args[1]); number++) {
                    constants();
                }
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }
}
