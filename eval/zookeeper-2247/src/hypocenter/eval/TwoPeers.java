package hypocenter.eval;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A quorum of two in one JVM: {@code TwoPeers DIR} starts both peers with their data below DIR, lets a client of each
 * create a znode and read it back, and ends the peers. Peer 2 leads, since of empty peers the one with the highest number
 * does. Exit status 0 if all of it went well, 1 if a client was not served.
 */
public final class TwoPeers {
    private static final Logger LOG = LoggerFactory.getLogger(TwoPeers.class);
    private static final String HOST = "127.0.0.1";
    /** The least that a tick of four seconds allows. A client takes two thirds of it without an answer for a loss. */
    private static final int SESSION_MS = 8_000;
    private static final int START_MS = 30_000;
    private static final int POLL_MS = 250;

    private TwoPeers() {}

    public static void main(String[] args) throws Exception {
        if (args.length != 1) {
            System.err.println("usage: TwoPeers DIR");
            System.exit(64);
        }
        List<Peer> peers = List.of(new Peer(1, Path.of(args[0])), new Peer(2, Path.of(args[0])));
        try {
            work(peers);
        } catch (IOException | KeeperException e) {
            LOG.error("a client was not served", e);
            System.exit(1);
        }
        System.exit(0);
    }

    private static void work(List<Peer> peers) throws Exception {
        for (Peer peer : peers) {
            new Thread(peer).start();
        }
        for (Peer peer : peers) {
            awaitServing(peer);
        }
        for (Peer peer : peers) {
            create(peer);
        }
        for (Peer peer : peers) {
            peer.end();
        }
    }

    private static void awaitServing(Peer peer) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_MS);
        while (!isServing(peer)) {
            if (System.nanoTime() > deadline) {
                throw new IOException("peer " + peer.id() + " does not serve after " + START_MS + " ms");
            }
            Thread.sleep(POLL_MS);
        }
    }

    private static boolean isServing(Peer peer) {
        try {
            return FourLetterWordMain.send4LetterWord(HOST, peer.clientPort(), "stat").contains("Mode: ");
        } catch (Exception e) {
            LOG.info("peer {} is not up", peer.id(), e);
            return false;
        }
    }

    private static void create(Peer peer) throws IOException, InterruptedException, KeeperException {
        String path = "/created-at-" + peer.id();
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(HOST + ":" + peer.clientPort(), SESSION_MS, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        if (!connected.await(SESSION_MS, TimeUnit.MILLISECONDS)) {
            throw new IOException("no session at peer " + peer.id() + " after " + SESSION_MS + " ms");
        }
        client.create(path, path.getBytes(), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        String read = new String(client.getData(path, false, null));
        if (!read.equals(path)) {
            throw new IOException(path + " has " + read);
        }
        client.close();
    }
}
