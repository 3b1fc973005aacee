package quorum;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What a server is told: its number, its directory, and a few limits. Ports follow from the number. */
final class Config {
    static final int SERVERS = 3;
    static final int MAJORITY = SERVERS / 2 + 1;
    static final int PING_MS = 200;
    static final int SILENCE_MS = 2_000;
    static final int REQUEST_MS = 1_200;
    private static final Logger LOG = Logger.getLogger(Config.class.getName());

    final int id;
    final Path data;
    final int snapshotEvery;
    final int quota;

    private Config(int id, Path data, Properties properties) {
        this.id = id;
        this.data = data;
        this.snapshotEvery = Integer.parseInt(properties.getProperty("snapshot.every", "40"));
        this.quota = Integer.parseInt(properties.getProperty("quota.children", "25"));
    }

    static Config parse(String[] args) throws IOException {
        int id = 0;
        Path data = null;
        for (int i = 0; i + 1 < args.length; i += 2) {
            switch (args[i]) {
                case "--id" -> id = Integer.parseInt(args[i + 1]);
                case "--data" -> data = Path.of(args[i + 1]);
                default -> throw new IllegalArgumentException("unknown option " + args[i] + ": take --id and --data");
            }
        }
        if (id < 1 || id > SERVERS || data == null) {
            throw new IllegalArgumentException("say --id 1 to " + SERVERS + " and --data DIRECTORY");
        }
        Files.createDirectories(data);
        return new Config(id, data, properties(data.resolve("quorum.properties")));
    }

    private static Properties properties(Path file) {
        Properties properties = new Properties();
        try (BufferedReader in = Files.newBufferedReader(file)) {
            properties.load(in);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot read " + file.getFileName() + ", using the defaults", e);
        }
        return properties;
    }

    static InetSocketAddress clients(int id) {
        return at(7100 + id);
    }

    static InetSocketAddress health(int id) {
        return at(7200 + id);
    }

    static InetSocketAddress election(int id) {
        return at(7300 + id);
    }

    static InetSocketAddress learners(int id) {
        return at(7400 + id);
    }

    static InetSocketAddress at(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }
}
