package balancer;

import java.io.Closeable;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import java.util.stream.IntStream;

/** A cluster for tests. */
final class MiniCluster implements Closeable {
    private static final long LIMIT_MS = 30_000;

    private final Settings settings;
    private final Cluster cluster;

    MiniCluster(String text) throws IOException, SettingsException {
        settings = Settings.read(new StringReader(text));
        cluster = new Cluster(settings);
    }

    static List<Region> regions(String table, int first, int last) {
        return IntStream.rangeClosed(first, last).mapToObj(it -> Region.of(table, it)).toList();
    }

    /** Returns when every region that is open from the start is in the catalogue. */
    void waitActive() throws InterruptedException, ClusterException {
        int opened = cluster.open(regions("old", 1, settings.open()), LIMIT_MS);
        if (opened < settings.open()) {
            throw new ClusterException("only " + opened + " regions are open");
        }
    }

    int open(String table, int first, int last) throws InterruptedException {
        return open(table, first, last, LIMIT_MS);
    }

    int open(String table, int first, int last, long limitMs) throws InterruptedException {
        return cluster.open(regions(table, first, last), limitMs);
    }

    int close(String table, int first, int last) throws InterruptedException, UnknownRegionException {
        return cluster.close(regions(table, first, last));
    }

    int record(String table, int first, int last) throws InterruptedException {
        return cluster.record(regions(table, first, last));
    }

    void join(String host) {
        cluster.join(host);
    }

    int lose(String host) throws InterruptedException {
        return cluster.lose(host);
    }

    List<Region> logged() throws IOException {
        return cluster.log().read();
    }

    @Override
    public void close() throws IOException {
        cluster.close();
    }
}
