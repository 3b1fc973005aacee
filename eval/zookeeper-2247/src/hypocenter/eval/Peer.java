package hypocenter.eval;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One of two peers, as its own main class runs it: it reads a configuration and works until it is ended. */
final class Peer extends QuorumPeerMain implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Peer.class);
    private static final int END_MS = 30_000;

    private final int id;
    private final Path configuration;

    Peer(int id, Path directory) throws IOException {
        this.id = id;
        Path place = directory.resolve("zk" + id);
        Path data = Files.createDirectories(place.resolve("data"));
        Files.writeString(data.resolve("myid"), id + "\n");
        Path members = place.resolve("members.cfg");
        Files.write(members, List.of(member(1), member(2)));
        this.configuration = place.resolve("zoo.cfg");
        Files.write(configuration, List.of(
                "tickTime=4000",
                "initLimit=10",
                "syncLimit=5",
                "dataDir=" + data,
                "clientPort=" + clientPort(),
                "admin.enableServer=false",
                "dynamicConfigFile=" + members));
    }

    private static String member(int id) {
        int port = 11222 + 2 * id;
        return "server." + id + "=127.0.0.1:" + port + ":" + (port + 1) + ":participant;" + (11221 + id);
    }

    int id() {
        return id;
    }

    int clientPort() {
        return 11221 + id;
    }

    @Override
    public void run() {
        try {
            initializeAndRun(new String[] {configuration.toString()});
        } catch (Exception e) {
            LOG.error("peer {} cannot run", id, e);
        }
    }

    void end() throws IOException, InterruptedException {
        quorumPeer.shutdown();
        quorumPeer.getElectionAlg().shutdown();
        quorumPeer.join(END_MS);
        if (quorumPeer.isAlive()) {
            throw new IOException("peer " + id + " has not ended after " + END_MS + " ms");
        }
    }
}
