package hypocenter.eval;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * Clients of single servers, each with a session of its own; one JVM for all, since starting one takes more than all that a client
 * does. {@code ZkLoad PORT} takes one line a connection on the loopback: {@code create NAME CONNECT FIRST STEPS} creates STEPS
 * entries from FIRST on, {@code read|write NAME CONNECT ENTRIES STEPS} reads or writes one of ENTRIES by chance, STEPS times. It
 * answers {@code progress N} after the N-th request, and last {@code end STATUS}: 0 only if all requests were answered. It connects
 * again when a request fails, and gives up when one has failed for the fourth time or takes too long.
 */
public final class ZkLoad {
    private static final int SESSION_TIMEOUT_MS = 7_000;
    private static final int FAILURES_MAX = 3;
    private static final long STEP_LIMIT_S = 10;
    private static final int RETRY_PAUSE_MS = 20;

    private final String connect;
    private final PrintStream answers;
    private ZooKeeper zk;

    private ZkLoad(String connect, PrintStream answers) {
        this.connect = connect;
        this.answers = answers;
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 1) {
            System.err.println("usage: ZkLoad PORT");
            System.exit(64);
        }
        try (ServerSocket asked = new ServerSocket(Integer.parseInt(args[0]), 50, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket client = asked.accept();
                new Thread(() -> serve(client)).start();
            }
        }
    }

    private static void serve(Socket client) {
        try (client) {
            BufferedReader lines = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
            String line = lines.readLine();
            // Whoever only looks whether somebody listens says nothing.
            if (line == null) {
                return;
            }
            PrintStream answers = new PrintStream(client.getOutputStream(), true, StandardCharsets.UTF_8);
            String[] words = line.split(" ");
            boolean good = words.length == 5 && new ZkLoad(words[2], answers).work(words);
            answers.println("end " + (good ? 0 : 1));
        } catch (IOException | InterruptedException e) {
            System.err.println("a client is gone: " + e);
        }
    }

    private boolean work(String[] words) throws InterruptedException {
        String kind = words[0];
        int number = Integer.parseInt(words[3]);
        int steps = Integer.parseInt(words[4]);
        Random random = new Random(words[1].hashCode());
        for (int step = 1; step <= steps; step++) {
            int entry = kind.equals("create") ? number + step - 1 : random.nextInt(number);
            // A request may block for ever: whoever waits for it must not.
            CompletableFuture<Boolean> done = new CompletableFuture<>();
            Thread request = new Thread(() -> done.complete(request(kind, "/e" + entry)));
            request.setDaemon(true);
            request.start();
            boolean good;
            try {
                good = done.get(STEP_LIMIT_S, TimeUnit.SECONDS);
            } catch (java.util.concurrent.TimeoutException e) {
                answers.println(kind + " of /e" + entry + ": no answer in " + STEP_LIMIT_S + " s");
                good = false;
            } catch (java.util.concurrent.ExecutionException e) {
                throw new IllegalStateException(e);
            }
            if (!good) {
                answers.println("step " + step + " cannot be made");
                return false;
            }
            answers.println("progress " + step);
        }
        // What was asked was answered; how the session ends is not asked, and may take for ever.
        Thread close = new Thread(this::close);
        close.setDaemon(true);
        close.start();
        return true;
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
                answers.println(kind + " of " + path + ": " + e);
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

    private void close() {
        try {
            zk.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static byte[] data(String path) {
        return ("data of " + path).getBytes(StandardCharsets.UTF_8);
    }
}
