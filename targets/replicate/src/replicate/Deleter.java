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

    void deleteBlock(Block deleted) {
        deleted.size = Long.MAX_VALUE;
        namesystem.neededReplications.remove(deleted);
    }
}
