package hypocenter.eval;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.PortAssignment;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.ZooKeeper.States;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.server.quorum.QuorumPeerTestBase;
import org.apache.zookeeper.server.quorum.QuorumPeerTestBase.MainThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Three servers in one JVM, by the classes of ZooKeeper's own tests, and a client of each. A follower takes a snapshot while nodes are
 * created, starts again, and its client reads. Exit status 0 if the client could read, 1 if not.
 */
public final class RestartedFollower {
    private static final Logger LOG = LoggerFactory.getLogger(RestartedFollower.class);
    private static final int SERVERS = 3;
    private static final int SESSION_MS = 10_000;
    private static final String PARENT = "/parent";

    private RestartedFollower() {}

    public static void main(String[] args) throws Exception {
        int[] ports = new int[SERVERS];
        StringBuilder section = new StringBuilder();
        for (int id = 0; id < SERVERS; id++) {
            ports[id] = PortAssignment.unique();
            section.append(String.format("server.%d=127.0.0.1:%d:%d:participant;%d%n",
                    id, PortAssignment.unique(), PortAssignment.unique(), ports[id]));
        }
        MainThread[] servers = new MainThread[SERVERS];
        ZooKeeper[] clients = new ZooKeeper[SERVERS];
        for (int id = 0; id < SERVERS; id++) {
            servers[id] = new MainThread(id, ports[id], section.toString(), false);
            servers[id].start();
            clients[id] = new ZooKeeper("127.0.0.1:" + ports[id], SESSION_MS, RestartedFollower::ignore);
        }
        QuorumPeerTestBase.waitForAll(clients, States.CONNECTED);
        int follower = 0;
        while (servers[follower].getQuorumPeer().getPeerState() != QuorumPeer.ServerState.FOLLOWING) {
            follower++;
        }
        ZooKeeper client = clients[follower];
        client.create(PARENT, null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        LOG.info("Take a snapshot on follower {}", follower);
        servers[follower].getQuorumPeer().getActiveServer().takeSnapshot(true);
        for (int child = 0; child < 5; child++) {
            client.create(PARENT + "/" + child, null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
        LOG.info("Restart follower {}", follower);
        servers[follower].shutdown();
        QuorumPeerTestBase.waitForOne(client, States.CONNECTING);
        servers[follower].start();
        System.exit(canRead(client) ? 0 : 1);
    }

    private static boolean canRead(ZooKeeper client) throws InterruptedException {
        // The first tries meet a server that has not begun to listen or has no leader yet.
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (true) {
            try {
                return client.getChildren(PARENT, false).size() == 5;
            } catch (KeeperException error) {
                if (System.nanoTime() > deadline) {
                    LOG.error("The client cannot read", error);
                    return false;
                }
                Thread.sleep(100);
            }
        }
    }

    private static void ignore(WatchedEvent event) {}
}
