package shape;

import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.Selector;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

class Waiting extends Thread {
    static final TimeUnit UNIT = TimeUnit.SECONDS;
    static final long MINUTE = 60_000;
    int ticks;

    void objects(Object it) throws Exception {
        it.wait();
        it.wait(0);
        it.wait(500);
        it.wait(ticks);
    }

    void threads() throws Exception {
        Thread.sleep(MINUTE);
        TimeUnit.SECONDS.sleep(3);
        join();
        join(100);
    }

    void queues(BlockingQueue<String> queue, LinkedBlockingDeque<String> deque) throws Exception {
        queue.take();
        queue.poll();
        queue.poll(2, TimeUnit.SECONDS);
        queue.put("it");
        queue.offer("it");
        queue.offer("it", 5, TimeUnit.MICROSECONDS);
        deque.takeFirst();
        deque.pollLast(ticks, TimeUnit.HOURS);
    }

    void results(Future<String> future, CompletableFuture<String> other) throws Exception {
        future.get();
        future.get(1, TimeUnit.MINUTES);
        other.join();
        other.get(1, UNIT);
    }

    void others(CountDownLatch latch, ExecutorService pool, Semaphore permits) throws Exception {
        latch.await();
        latch.await(7, TimeUnit.MILLISECONDS);
        pool.awaitTermination(1, TimeUnit.DAYS);
        permits.acquire();
        permits.tryAcquire();
    }

    void locks(ReentrantLock lock, Condition condition) throws Exception {
        lock.lock();
        lock.tryLock();
        lock.tryLock(9, TimeUnit.SECONDS);
        condition.await();
        condition.awaitNanos(3_000_000);
        LockSupport.park();
    }

    void connections(Socket socket, SocketAddress to, ServerSocket server, Selector selector) throws Exception {
        socket.connect(to);
        socket.connect(to, 250);
        server.accept();
        selector.select();
        selector.select(40);
        selector.selectNow();
    }
}
