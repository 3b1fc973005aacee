package hypocenter.eval;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/**
 * The data of three peers that have worked before: {@code Seed DIR} writes a snapshot, the epochs and the number of each
 * peer. All have the same snapshot, so that none has to catch up.
 */
public final class Seed {
    private static final int PEERS = 3;
    private static final long EPOCH = 0x72;

    private Seed() {}

    public static void main(String[] args) throws Exception {
        if (args.length != 1) {
            System.err.println("usage: Seed DIR");
            System.exit(64);
        }
        for (int id = 1; id <= PEERS; id++) {
            Path data = Files.createDirectories(Path.of(args[0]).resolve("zookeeper" + id));
            Files.writeString(data.resolve("myid"), id + "\n");
            FileTxnSnapLog files = new FileTxnSnapLog(data.toFile(), data.toFile());
            ZKDatabase database = new ZKDatabase(files);
            database.setlastProcessedZxid(EPOCH << 32);
            files.save(database.getDataTree(), database.getSessionWithTimeOuts(), true);
            files.close();
            for (String epoch : new String[] {"currentEpoch", "acceptedEpoch"}) {
                Files.writeString(data.resolve("version-2").resolve(epoch), Long.toString(EPOCH));
            }
        }
    }
}
