package hypocenter.eval;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * A client of one server that does one kind of request: {@code ZkLoad create NAME CONNECT FIRST STEPS} creates STEPS entries
 * from FIRST on, {@code ZkLoad read|write NAME CONNECT ENTRIES STEPS} reads or writes one of ENTRIES by chance, STEPS times.
 * It prints {@code progress N} after the N-th request, connects again when a request fails, and gives up when one has failed
 * for the fourth time or takes too long. The exit status is 0 only if all requests were answered.
 */
public final class ZkLoad {
    private static final int SESSION_TIMEOUT_MS = 7_000;
    private static final int FAILURES_MAX = 3;
    private static final long STEP_LIMIT_S = 10;
    private static final int RETRY_PAUSE_MS = 20;

    private final String connect;
    private ZooKeeper zk;

    private ZkLoad(String connect) {
        this.connect = connect;
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 5) {
            System.err.println("usage: ZkLoad create|read|write NAME CONNECT FIRST|ENTRIES STEPS");
            System.exit(64);
        }
        ZkLoad load = new ZkLoad(args[2]);
        int number = Integer.parseInt(args[3]);
        int steps = Integer.parseInt(args[4]);
        Random random = new Random(args[1].hashCode());
        for (int step = 1; step <= steps; step++) {
            int entry = args[0].equals("create") ? number + step - 1 : random.nextInt(number);
            // A request may block for ever: whoever waits for it must not.
            CompletableFuture<Boolean> done = new CompletableFuture<>();
            Thread request = new Thread(() -> done.complete(load.request(args[0], "/e" + entry)));
            request.setDaemon(true);
            request.start();
            boolean good;
            try {
                good = done.get(STEP_LIMIT_S, TimeUnit.SECONDS);
            } catch (java.util.concurrent.TimeoutException e) {
                System.err.println(args[0] + " of /e" + entry + ": no answer in " + STEP_LIMIT_S + " s");
                good = false;
            }
            if (!good) {
                System.out.println("step " + step + " cannot be made");
                System.out.flush();
                Runtime.getRuntime().halt(1);
            }
            System.out.println("progress " + step);
        }
        System.out.flush();
        // What was asked was answered; how the session ends is not asked.
        Runtime.getRuntime().halt(0);
    }

    private boolean request(String kind, String path) {
        for (int failures = 0; failures <= FAILURES_MAX; failures++) {
            try {
                if (zk == null) {
                    zk = new ZooKeeper(connect, SESSION_TIMEOUT_MS, event -> {});
                }
                switch (kind) {
                    case "create":
                        try {
                            zk.create(path, data(path), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                        } catch (KeeperException.NodeExistsException e) {
                            // Only an attempt whose answer was lost can have made it: the cluster starts empty.
                            if (failures == 0) {
                                throw e;
                            }
                        }
                        break;
                    case "read":
                        zk.getData(path, false, null);
                        break;
                    default:
                        zk.setData(path, data(path), -1);
                }
                return true;
            } catch (Exception e) {
                System.err.println(kind + " of " + path + ": " + e);
                try {
                    if (zk != null) {
                        zk.close(RETRY_PAUSE_MS);
                    }
                    Thread.sleep(RETRY_PAUSE_MS);
                } catch (InterruptedException interrupted) {
                    return false;
                }
                zk = null;
            }
        }
        return false;
    }

    private static byte[] data(String path) {
        return ("data of " + path).getBytes(StandardCharsets.UTF_8);
    }
}
