package shards;

import java.io.Closeable;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;

/** A cell for tests: it beats when the test says so, and every beat is waited for. */
final class MiniCell implements Closeable {
    private static final long LIMIT_MS = 40_000;

    private final Cell cell;

    MiniCell(String settings) throws IOException, CellException, NoHostException {
        cell = new Cell(CellConfig.read(new StringReader(settings)));
    }

    /** Returns when all shards are open and settled. */
    void waitActive() throws CellException, InterruptedException {
        rounds(2);
    }

    /** Lets the hosts report so many times. */
    void rounds(int count) throws CellException, InterruptedException {
        for (int i = 0; i < count; i++) {
            cell.manager().beat();
        }
        if (!cell.manager().awaitRounds(count, LIMIT_MS)) {
            throw new CellException("the manager hangs");
        }
    }

    void stop(String host) throws CellException, InterruptedException {
        cell.stop(host);
    }

    List<String> status() {
        return cell.manager().status();
    }

    List<String> remoteStatus() throws CellException {
        return new StatusClient(cell.statusPort(), 3).status();
    }

    List<String> audit() throws IOException {
        return cell.audit().lines();
    }

    String hostOf(int shard) throws CellException {
        return cell.catalog().hostOf(shard);
    }

    long served(int shard) throws UnknownShardException {
        return cell.catalog().find(shard).served();
    }

    @Override
    public void close() throws IOException {
        cell.close();
    }
}
