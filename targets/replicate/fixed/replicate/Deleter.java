package replicate;

/** The thread that deletes a block. */
final class Deleter implements Runnable {
    private final Namesystem namesystem;
    private final Block block;

    Deleter(Namesystem namesystem, Block block) {
        this.namesystem = namesystem;
        this.block = block;
    }

    @Override
    public void run() {
        deleteBlock(block);
    }

    /** Nobody may find a block in the queue whose size says that it is deleted. */
    void deleteBlock(Block deleted) {
        namesystem.neededReplications.remove(deleted);
        deleted.size = Long.MAX_VALUE;
    }
}
