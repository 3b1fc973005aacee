package hypocenter.eval;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/**
 * Reads what {@link ZkClient} has created: {@code ZkReader CONNECT N} waits until N znodes are there. The exit status is 0 only if
 * they are in time.
 */
public final class ZkReader {
    private static final int SESSION_TIMEOUT_MS = 10_000;
    private static final int LIMIT_MS = 30_000;
    private static final int RETRY_PAUSE_MS = 200;

    private ZkReader() {}

    public static void main(String[] args) throws InterruptedException {
        if (args.length != 2) {
            System.err.println("usage: ZkReader CONNECT N");
            System.exit(64);
        }
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MS);
        int status = 1;
        while (status != 0 && System.nanoTime() < deadline) {
            try {
                status = countsTo(args[0], Integer.parseInt(args[1])) ? 0 : 1;
            } catch (Exception e) {
                System.err.println("client: " + e);
            }
            if (status != 0) {
                Thread.sleep(RETRY_PAUSE_MS);
            }
        }
        if (status == 0) {
            System.out.println("progress 1");
        }
        System.out.flush();
        Runtime.getRuntime().halt(status);
    }

    private static boolean countsTo(String connect, int total) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper zk = new ZooKeeper(connect, SESSION_TIMEOUT_MS, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        try {
            if (!connected.await(SESSION_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                return false;
            }
            long found = zk.getChildren("/", false).stream().filter(it -> it.startsWith("hypocenter-")).count();
            return found == total;
        } finally {
            zk.close();
        }
    }
}
