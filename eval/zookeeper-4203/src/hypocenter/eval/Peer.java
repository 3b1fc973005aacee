package hypocenter.eval;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import javax.security.sasl.SaslException;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.server.quorum.QuorumPeer.ServerState;
import org.apache.zookeeper.server.quorum.QuorumPeer.ZabState;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/** A peer that is configured as ZooKeeper's own main class does it, and then runs beside the others. */
final class Peer extends QuorumPeerMain {
    private static final int PEERS = 3;

    private final long id;
    private final CountDownLatch gate;

    /** A peer on a copy of its data. It is ready at once, and votes when the gate is open. */
    Peer(long id, Path directory, Path seed, CountDownLatch gate) throws Exception {
        this.id = id;
        this.gate = gate;
        Path data = copy(seed.resolve("zookeeper" + id), directory.resolve("zookeeper" + id));
        QuorumPeerConfig config = new QuorumPeerConfig();
        config.parseProperties(properties(data));
        runFromConfig(config);
        ((GatedPeer) quorumPeer).startNow();
    }

    @Override
    protected QuorumPeer getQuorumPeer() throws SaslException {
        return new GatedPeer();
    }

    long id() {
        return id;
    }

    boolean isIn() {
        return quorumPeer.getZabState() == ZabState.BROADCAST;
    }

    boolean isLeader() {
        return quorumPeer.getPeerState() == ServerState.LEADING;
    }

    void end() {
        quorumPeer.shutdown();
    }

    private Properties properties(Path data) {
        Properties properties = new Properties();
        properties.setProperty("tickTime", "2000");
        properties.setProperty("initLimit", "10");
        properties.setProperty("syncLimit", "2000");
        properties.setProperty("dataDir", data.toString());
        properties.setProperty("clientPort", Long.toString(2180 + id));
        for (int other = 1; other <= PEERS; other++) {
            properties.setProperty("server." + other, "127.0.0.1:" + (2886 + other) + ":" + (3886 + other));
        }
        return properties;
    }

    private static Path copy(Path from, Path to) throws IOException {
        try (var files = Files.walk(from)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Path copied = to.resolve(from.relativize(file));
                if (Files.isDirectory(file)) {
                    Files.createDirectories(copied);
                } else {
                    Files.copy(file, copied);
                }
            }
        }
        return to;
    }

    private final class GatedPeer extends QuorumPeer {
        GatedPeer() throws SaslException {}

        /** Not yet: the main class would wait for the end of a peer that runs, and the others are still to come. */
        @Override
        public synchronized void start() {}

        void startNow() {
            super.start();
        }

        @Override
        public void run() {
            try {
                gate.await();
            } catch (InterruptedException e) {
                return;
            }
            super.run();
        }
    }
}
