package hypocenter.eval;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * A client of one server that survives the loss of it: {@code ZkWorker NAME CONNECT STEPS} creates STEPS znodes one after
 * the other, reads each back, and prints {@code progress N} when the N-th is there. A step is tried again for a bounded
 * time; the exit status is 0 only if all steps were made.
 */
public final class ZkWorker {
    private static final int SESSION_TIMEOUT_MS = 10_000;
    /** A crash, a restart and an election fit into it, on a busy machine too. */
    private static final long STEP_LIMIT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int RETRY_PAUSE_MS = 100;

    private final String name;
    private final String connect;
    private ZooKeeper zk;
    private int retries;

    private ZkWorker(String name, String connect) {
        this.name = name;
        this.connect = connect;
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 3) {
            System.err.println("usage: ZkWorker NAME CONNECT STEPS");
            System.exit(64);
        }
        int steps = Integer.parseInt(args[2]);
        ZkWorker worker = new ZkWorker(args[0], args[1]);
        for (int step = 1; step <= steps; step++) {
            if (!worker.createAndRead(step)) {
                System.out.println("step " + step + " cannot be made");
                System.out.flush();
                Runtime.getRuntime().halt(1);
            }
            System.out.println("progress " + step);
        }
        worker.zk.close();
        System.out.println("done, retries " + worker.retries);
    }

    private boolean createAndRead(int step) throws InterruptedException {
        String path = "/" + name + "-" + step;
        byte[] payload = ("payload " + step).getBytes(StandardCharsets.UTF_8);
        long limit = System.nanoTime() + STEP_LIMIT_NS;
        for (boolean again = false; System.nanoTime() - limit < 0; again = true) {
            try {
                if (zk == null) {
                    zk = new ZooKeeper(connect, SESSION_TIMEOUT_MS, event -> {});
                }
                try {
                    zk.create(path, payload, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                } catch (KeeperException.NodeExistsException e) {
                    // Only an attempt whose answer was lost can have made it: the cluster starts empty.
                    if (!again) {
                        throw e;
                    }
                }
                if (!Arrays.equals(payload, zk.getData(path, false, null))) {
                    System.err.println(path + " was read back with other data");
                    return false;
                }
                return true;
            } catch (KeeperException.ConnectionLossException e) {
                System.err.println(path + ": " + e);
            } catch (KeeperException.SessionExpiredException e) {
                System.err.println(path + ": " + e);
                zk.close();
                zk = null;
            } catch (Exception e) {
                System.err.println(path + ": " + e);
                return false;
            }
            retries++;
            Thread.sleep(RETRY_PAUSE_MS);
        }
        return false;
    }
}
