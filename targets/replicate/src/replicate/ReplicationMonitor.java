package replicate;

import java.util.Iterator;

/** The thread that copies blocks that have too few replicas. */
final class ReplicationMonitor implements Runnable {
    private static final long PERIOD_MS = 20;

    private final Namesystem namesystem;

    ReplicationMonitor(Namesystem namesystem) {
        this.namesystem = namesystem;
    }

    @Override
    public void run() {
        try {
            replicateBlocks();
        } catch (NotEnoughReplicasException e) {
            System.out.println("ERROR ReplicationMonitor: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void replicateBlocks() throws NotEnoughReplicasException, InterruptedException {
        while (namesystem.isRunning()) {
            if (!namesystem.isInSafeMode()) {
                for (Block block : namesystem.neededReplications) {
                    chooseTarget(block, block.replicas, block.size);
                    namesystem.neededReplications.remove(block);
                }
            }
            Thread.sleep(PERIOD_MS);
        }
    }

    void chooseTarget(Block block, int replicas, long size) throws NotEnoughReplicasException {
        if (replicas <= 1) {
            chooseRemoteRack(block, replicas, size);
        } else {
            chooseRandom(block, replicas, size);
        }
    }

    /** A block with one replica first gets a second one on the last rack. */
    void chooseRemoteRack(Block block, int replicas, long size) throws NotEnoughReplicasException {
        block.replicas = replicas + 1;
        namesystem.copies.incrementAndGet();
        if (block.replicas < namesystem.factor()) {
            chooseRandom(block, block.replicas, size);
        }
    }

    void chooseRandom(Block block, int replicas, long size) throws NotEnoughReplicasException {
        int numNeeded = namesystem.factor() - replicas;
        Iterator<DataNode> nodes = namesystem.inRandomOrder().iterator();
        while (numNeeded > 0) {
            if (!nodes.hasNext()) {
                break;
            }
            DataNode node = nodes.next();
            if (size <= node.capacity) {
                block.replicas++;
                namesystem.copies.incrementAndGet();
                numNeeded--;
            }
        }
        if (numNeeded > 0) {
            throw new NotEnoughReplicasException("not enough replicas were chosen for block " + block.id);
        }
    }
}
