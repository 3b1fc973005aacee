package probe;

import java.util.ArrayList;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Threads that wait for each other and hand work over, in each way that the JDK has. */
public class Handovers {
    static volatile boolean ready;

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            hang();
        }
        monitors();
        parking();
        locks();
        latch();
        queues();
        executors();
        futures();
        timers();
        virtualThreads();
        System.out.println("done");
    }

    interface Work {
        void run() throws Exception;
    }

    static Thread begun(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception e) {
                e.printStackTrace();
            }
        }, name);
        thread.start();
        return thread;
    }

    /** Waits for what never comes, until the JVM is gone. */
    static void hang() throws Exception {
        Thread main = Thread.currentThread();
        begun("halter", () -> {
            while (main.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            Runtime.getRuntime().halt(7);
        });
        new CountDownLatch(1).await();
    }

    static void monitors() throws Exception {
        Object lock = new Object();
        boolean[] done = new boolean[1];
        Thread thread;
        synchronized (lock) {
            thread = begun("notifier", () -> {
                synchronized (lock) {
                    done[0] = true;
                    lock.notifyAll();
                }
            });
            while (!done[0]) {
                lock.wait(60_000);
            }
            lock.wait(1);
        }
        thread.join();
        try {
            lock.notify();
        } catch (IllegalMonitorStateException expected) {
            ready = false;
        }
    }

    static void parking() throws Exception {
        Thread thread = begun("parked", () -> {
            while (!ready) {
                LockSupport.park();
            }
        });
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        ready = true;
        LockSupport.unpark(thread);
        thread.join();
    }

    static void locks() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        Condition condition = lock.newCondition();
        lock.lock();
        Thread thread = begun("signaller", () -> {
            lock.lock();
            try {
                condition.signalAll();
            } finally {
                lock.unlock();
            }
        });
        condition.await();
        lock.unlock();
        thread.join();
        Semaphore semaphore = new Semaphore(0);
        boolean taken = semaphore.tryAcquire();
        semaphore.release();
        semaphore.acquire();
    }

    static void latch() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        Thread thread = begun("counter", latch::countDown);
        latch.await();
        thread.join();
    }

    static void queues() throws Exception {
        BlockingQueue<String> queue = new LinkedBlockingQueue<>();
        List<String> got = new ArrayList<>();
        Thread thread = begun("taker", () -> {
            got.add(queue.take());
            got.add(queue.poll(60, TimeUnit.SECONDS));
            got.add(queue.poll());
        });
        queue.put("first");
        queue.offer("second");
        thread.join();
    }

    static void executors() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1, work -> new Thread(work, "pool"));
        CountDownLatch latch = new CountDownLatch(2);
        // The first goes to a new thread, the second by the queue.
        pool.execute(latch::countDown);
        pool.execute(latch::countDown);
        latch.await();
        Future<Integer> future = pool.submit(() -> 5);
        future.get();
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
        ScheduledExecutorService scheduled = Executors.newScheduledThreadPool(1, work -> new Thread(work, "later"));
        scheduled.schedule(() -> 6, 1, TimeUnit.MILLISECONDS).get();
        scheduled.shutdown();
    }

    static void futures() throws Exception {
        CompletableFuture<String> future = new CompletableFuture<>();
        Thread thread = begun("completer", () -> future.complete("text"));
        future.get();
        thread.join();
    }

    /** Where a JVM has them: threads that give their carrier up while they wait. */
    static void virtualThreads() throws Exception {
        if (Runtime.version().feature() < 21) {
            return;
        }
        LinkedBlockingQueue<String> there = new LinkedBlockingQueue<>();
        LinkedBlockingQueue<String> back = new LinkedBlockingQueue<>();
        Runnable echo = () -> {
            try {
                back.put(there.take() + "!");
            } catch (InterruptedException e) {
                e.printStackTrace();
            }
        };
        Thread first = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, echo);
        Thread second = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, echo);
        while (first.getState() != Thread.State.WAITING || second.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        there.put("one");
        there.put("two");
        back.take();
        back.take();
        first.join();
        second.join();
    }

    static void timers() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        Timer timer = new Timer("timer", true);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                latch.countDown();
            }
        }, 1);
        latch.await();
        timer.cancel();
    }
}
