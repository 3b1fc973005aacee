package relay;

/** The compaction of the spare, which takes as long as one batch. */
final class Compaction {
    /** The batch that comes meanwhile. */
    static final int BATCH = 3;

    private Compaction() {}

    /** Admits a batch to the spare. The one that comes meanwhile is written beside what is being compacted. */
    static void admit(int batch) {}
}
