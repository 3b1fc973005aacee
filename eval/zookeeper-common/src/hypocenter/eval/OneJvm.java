package hypocenter.eval;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/**
 * A whole cluster in one JVM: {@code OneJvm DIR} runs three quorum peers with their data below DIR, on the ports of
 * {@code server.sh}, and prints {@code all peers serve} when they do. Its peers are told apart by the names of their
 * threads, as in ZooKeeper's own tests. It ends when a peer does.
 */
public final class OneJvm {
    private static final int PEERS = 3;
    private static final int POLL_MS = 50;

    private OneJvm() {}

    public static void main(String[] args) throws Exception {
        if (args.length != 1) {
            System.err.println("usage: OneJvm DIR");
            System.exit(64);
        }
        // Of empty peers the one with the highest number wins an election that it is part of, so it is there first.
        for (int id = PEERS; id >= 1; id--) {
            start(id, write(Path.of(args[0]), id));
            awaitListener(id);
        }
        for (int id = 1; id <= PEERS; id++) {
            awaitMode(id);
        }
        System.out.println("all peers serve");
    }

    private static Path write(Path directory, int id) throws IOException {
        Path place = directory.resolve("zk" + id);
        Path data = Files.createDirectories(place.resolve("data"));
        Path file = place.resolve("zoo.cfg");
        List<String> lines = new ArrayList<>(List.of(
                "tickTime=500",
                "initLimit=20",
                "syncLimit=10",
                "dataDir=" + data,
                "clientPort=" + (2180 + id),
                "clientPortAddress=127.0.0.1",
                "admin.enableServer=false",
                "4lw.commands.whitelist=srvr"));
        for (int other = 1; other <= PEERS; other++) {
            lines.add("server." + other + "=127.0.0.1:" + (2880 + other) + ":" + (3880 + other));
        }
        Files.write(file, lines);
        Files.writeString(data.resolve("myid"), id + "\n");
        return file;
    }

    private static void start(int id, Path file) {
        Thread thread = new Thread(() -> {
            try {
                QuorumPeerConfig config = new QuorumPeerConfig();
                config.parse(file.toString());
                new QuorumPeerMain().runFromConfig(config);
                System.err.println("peer " + id + " ended");
            } catch (Exception e) {
                e.printStackTrace();
            }
            System.exit(1);
        }, "Main:" + id);
        thread.start();
    }

    /** Waits for the thread that takes connections of other peers: a connection to ask for it would be taken for one. */
    private static void awaitListener(int id) throws InterruptedException {
        String suffix = ":" + (3880 + id);
        while (Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .noneMatch(name -> name.startsWith("ListenerHandler-") && name.endsWith(suffix))) {
            Thread.sleep(POLL_MS);
        }
    }

    private static void awaitMode(int id) throws InterruptedException {
        while (true) {
            try {
                if (FourLetterWordMain.send4LetterWord("127.0.0.1", 2180 + id, "srvr").contains("Mode: ")) {
                    return;
                }
            } catch (Exception e) {
                // It does not serve yet; who waits for us has a limit.
            }
            Thread.sleep(POLL_MS);
        }
    }
}
