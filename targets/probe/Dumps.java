package probe;

import java.io.File;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that are stuck in ways that a thread dump tells apart. When all of them are, a file appears, named by the
 * first argument; the program goes on until there is a file `go`.
 */
public class Dumps {
    static class Fork {}

    static class Bell {}

    static final Fork LEFT = new Fork();
    static final Fork RIGHT = new Fork();
    static final Bell BELL = new Bell();
    static final ReentrantLock LOCK = new ReentrantLock();

    static final CountDownLatch BOTH = new CountDownLatch(2);

    /** Takes one fork, and when both have one, the other. */
    static void eat(Fork first, Fork second) {
        synchronized (first) {
            BOTH.countDown();
            try {
                BOTH.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            take(second);
        }
    }

    static void take(Fork fork) {
        synchronized (fork) {
            throw new AssertionError("nobody eats");
        }
    }

    static void waitForTheBell() {
        synchronized (BELL) {
            try {
                BELL.wait();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static void keep() {
        LOCK.lock();
        waitForTheBell();
    }

    static void queue() {
        LOCK.lock();
    }

    /** The place for a fault that keeps the thread. */
    static void step() {
        nothing();
    }

    static void nothing() {}

    static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static void until(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) {
            Thread.sleep(5);
        }
    }

    static void listThreads() {
        Thread.getAllStackTraces().keySet().stream().map(Thread::getName).sorted().forEach(System.out::println);
    }

    public static void main(String[] args) throws Exception {
        Thread left = start("left-handed", () -> eat(LEFT, RIGHT));
        Thread right = start("right-handed", () -> eat(RIGHT, LEFT));
        until(left, Thread.State.BLOCKED);
        until(right, Thread.State.BLOCKED);
        Thread keeper = start("keeper", Dumps::keep);
        until(keeper, Thread.State.WAITING);
        until(start("queued", Dumps::queue), Thread.State.WAITING);
        if (args.length > 1) {
            until(start("stepper", Dumps::step), Thread.State.TIMED_WAITING);
        }
        new File(args[0]).createNewFile();
        while (!new File("go").exists()) {
            Thread.sleep(5);
        }
        listThreads();
    }
}
