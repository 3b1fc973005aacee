package relay;

import java.io.IOException;

/** The compaction of the spare, which takes as long as one batch. */
final class Compaction {
    /** The batch that comes meanwhile. */
    static final int BATCH = 3;

    private Compaction() {}

    /** Admits a batch to the spare. */
    static void admit(int batch) throws IOException {
        if (batch == BATCH) {
            throw new IOException("the spare is being compacted");
        }
    }
}
