package hypocenter.eval;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * The workload of a ZooKeeper cluster: {@code ZkClient CONNECT N} creates N znodes, reads each of them back and
 * prints {@code creates OK/N}. The exit status is 0 only if all N are there with the payload they were given.
 *
 * <p>It uses only calls that every ZooKeeper from 3.4 on has, so one source serves all versions.
 */
public final class ZkClient {
    private static final int SESSION_TIMEOUT_MS = 10_000;
    private static final int TOTAL_LIMIT_MS = 90_000;
    private static final int ATTEMPTS_MAX = 5;
    private static final int RETRY_PAUSE_MS = 500;
    private static final int PROGRESS_STEPS = 10;

    private final String connect;
    private final long deadlineNs;
    private ZooKeeper zk;

    private ZkClient(String connect, long deadlineNs) {
        this.connect = connect;
        this.deadlineNs = deadlineNs;
    }

    public static void main(String[] args) {
        if (args.length != 2) {
            System.err.println("usage: ZkClient CONNECT N");
            System.exit(64);
        }
        int total = Integer.parseInt(args[1]);
        startLimit();
        ZkClient client = new ZkClient(args[0], System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TOTAL_LIMIT_MS));
        int done = client.run(total);
        System.out.println("creates " + done + "/" + total);
        System.out.flush();
        // halt, not exit: a session that cannot be closed must not hold up the end of the workload.
        Runtime.getRuntime().halt(done == total ? 0 : 1);
    }

    /** Ends the JVM when a call inside ZooKeeper's client never returns; the retries alone cannot promise an end. */
    private static void startLimit() {
        Thread limit = new Thread(() -> {
            try {
                Thread.sleep(TOTAL_LIMIT_MS + 5_000);
            } catch (InterruptedException e) {
                return;
            }
            System.err.println("client: no end after " + TOTAL_LIMIT_MS + " ms");
            Runtime.getRuntime().halt(2);
        }, "limit");
        limit.setDaemon(true);
        limit.start();
    }

    private int run(int total) {
        int done = 0;
        int steps = 0;
        for (int i = 0; i < total && !late(); i++) {
            if (createAndRead(i)) {
                done++;
            }
            // Always ends at PROGRESS_STEPS, whatever the total, so that a configuration can name one number of steps.
            int reached = (int) ((i + 1L) * PROGRESS_STEPS / total);
            if (reached > steps) {
                steps = reached;
                System.out.println("progress " + steps);
            }
        }
        close();
        return done;
    }

    private boolean createAndRead(int i) {
        // Plain names that do not depend on one another: a lost create costs one znode and nothing else.
        String path = "/hypocenter-" + i;
        byte[] payload = ("payload " + i + " ").repeat(8).getBytes(StandardCharsets.UTF_8);
        for (int attempt = 1; attempt <= ATTEMPTS_MAX && !late(); attempt++) {
            try {
                ZooKeeper session = session();
                try {
                    session.create(path, payload, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                } catch (KeeperException.NodeExistsException e) {
                    // Only an earlier attempt whose answer was lost can have made it: the cluster starts empty.
                    if (attempt == 1) {
                        throw e;
                    }
                }
                byte[] read = session.getData(path, false, null);
                if (!Arrays.equals(payload, read)) {
                    System.err.println("client: " + path + " was read back with other data");
                    return false;
                }
                return true;
            } catch (KeeperException.SessionExpiredException e) {
                complain(path, attempt, e);
                close();
            } catch (Exception e) {
                complain(path, attempt, e);
                pause();
            }
        }
        return false;
    }

    /** The session in use, or a new one; waits for the connection as long as a session would live. */
    private ZooKeeper session() throws Exception {
        if (zk == null) {
            CountDownLatch connected = new CountDownLatch(1);
            zk = new ZooKeeper(connect, SESSION_TIMEOUT_MS, event -> {
                if (event.getState() == KeeperState.SyncConnected) {
                    connected.countDown();
                }
            });
            if (!connected.await(SESSION_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                close();
                throw new IOException("no connection to " + connect);
            }
        }
        return zk;
    }

    private void close() {
        if (zk == null) {
            return;
        }
        try {
            zk.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            zk = null;
        }
    }

    private boolean late() {
        return System.nanoTime() - deadlineNs > 0;
    }

    private static void complain(String path, int attempt, Exception e) {
        System.err.println("client: " + path + " attempt " + attempt + ": " + e);
    }

    private static void pause() {
        try {
            Thread.sleep(RETRY_PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
