package hypocenter.eval;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * A client of one server and of no other: {@code ZkPhase create|read|write SERVER CONNECT STEPS}. Ten znodes are shared by all
 * clients: {@code create} makes those that fall to its server, one a step; {@code read} and {@code write} take any of them at
 * each step. After each it prints {@code progress N}. A request that fails is made again on a new connection; the client gives
 * up, with status 1, when that did not help three times.
 */
public final class ZkPhase {
    private static final int ZNODES = 10;
    private static final int SERVERS = 3;
    private static final int SESSION_TIMEOUT_MS = 7000;
    private static final long CONNECT_LIMIT_S = 10;
    private static final int ATTEMPTS = 4;
    private static final long PAUSE_MS = 20;

    private interface Request {
        void on(ZooKeeper zk) throws KeeperException, InterruptedException;
    }

    private final String connect;
    private ZooKeeper zk;

    private ZkPhase(String connect) {
        this.connect = connect;
    }

    public static void main(String[] args) throws InterruptedException {
        if (args.length != 4) {
            System.err.println("usage: ZkPhase create|read|write SERVER CONNECT STEPS");
            System.exit(64);
        }
        String kind = args[0];
        int server = Integer.parseInt(args[1]);
        int steps = Integer.parseInt(args[3]);
        ZkPhase phase = new ZkPhase(args[2]);
        Random random = new Random(server);
        for (int step = 1; step <= steps; step++) {
            // The n-th of those that leave the rest of this server, or any.
            int znode = kind.equals("create") ? (server - 1) + (step - 1) * SERVERS : random.nextInt(ZNODES);
            if (!phase.make(request(kind, "/znode-" + znode, step))) {
                System.out.println(kind + " " + step + " cannot be made");
                System.out.flush();
                Runtime.getRuntime().halt(1);
            }
            System.out.println("progress " + step);
        }
        System.out.flush();
        // Nobody waits for a session to be closed: the server may be what is broken.
        Runtime.getRuntime().halt(0);
    }

    private static Request request(String kind, String path, int step) {
        byte[] value = ("value " + step).getBytes(StandardCharsets.UTF_8);
        switch (kind) {
            case "create":
                return zk -> {
                    try {
                        zk.create(path, value, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                    } catch (KeeperException.NodeExistsException e) {
                        // An attempt whose answer was lost has made it.
                    }
                };
            case "read":
                return zk -> zk.getData(path, false, null);
            case "write":
                return zk -> zk.setData(path, value, -1);
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    private boolean make(Request request) throws InterruptedException {
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            try {
                if (zk == null) {
                    zk = connected();
                }
                request.on(zk);
                return true;
            } catch (KeeperException | java.io.IOException e) {
                System.out.println("attempt " + attempt + ": " + e);
                zk = null;
                Thread.sleep(PAUSE_MS);
            }
        }
        return false;
    }

    private ZooKeeper connected() throws java.io.IOException, InterruptedException {
        CountDownLatch isConnected = new CountDownLatch(1);
        ZooKeeper made = new ZooKeeper(connect, SESSION_TIMEOUT_MS, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                isConnected.countDown();
            }
        });
        if (!isConnected.await(CONNECT_LIMIT_S, TimeUnit.SECONDS)) {
            made.close(1);
            throw new java.io.IOException("not connected after " + CONNECT_LIMIT_S + " s");
        }
        return made;
    }
}
