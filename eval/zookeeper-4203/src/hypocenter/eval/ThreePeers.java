package hypocenter.eval;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An ensemble of three in one JVM: {@code ThreePeers DIR SEED} starts the peers with copies of the data in SEED below DIR,
 * waits until each of them leads or follows, and ends them. Peer 3 leads, since all have the same data and it has the
 * highest number. Exit status 0 if all were in the quorum ten seconds after one was elected, 1 if not.
 */
public final class ThreePeers {
    private static final Logger LOG = LoggerFactory.getLogger(ThreePeers.class);
    private static final long[] IDS = {3, 1, 2};
    private static final long ELECT_S = 30;
    private static final long JOIN_S = 10;
    private static final long POLL_MS = 20;

    private ThreePeers() {}

    public static void main(String[] args) throws Exception {
        if (args.length != 2) {
            System.err.println("usage: ThreePeers DIR SEED");
            System.exit(64);
        }
        CountDownLatch gate = new CountDownLatch(1);
        List<Peer> peers = new ArrayList<>();
        for (long id : IDS) {
            peers.add(new Peer(id, Path.of(args[0]), Path.of(args[1]), gate));
        }
        gate.countDown();
        boolean joined = await(ELECT_S, () -> peers.stream().anyMatch(Peer::isLeader))
                && await(JOIN_S, () -> peers.stream().allMatch(Peer::isIn));
        if (!joined) {
            report(peers);
        }
        // The leader last: the others are not to elect a new one meanwhile.
        for (int i = 1; i <= peers.size(); i++) {
            peers.get(i % peers.size()).end();
        }
        System.exit(joined ? 0 : 1);
    }

    private static boolean await(long seconds, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            Thread.sleep(POLL_MS);
        }
        return true;
    }

    private static void report(List<Peer> peers) {
        String leader = peers.stream()
                .filter(Peer::isLeader)
                .map(it -> "peer " + it.id() + " leads")
                .findFirst()
                .orElse("no peer leads");
        for (Peer peer : peers) {
            if (!peer.isIn()) {
                LOG.error("peer {} has not joined the quorum after {} s, {}", peer.id(), JOIN_S, leader);
            }
        }
    }
}
