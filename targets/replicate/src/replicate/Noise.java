package replicate;

import java.util.Random;

/** A thread that writes other blocks, in random order, until it is interrupted. */
final class Noise implements Runnable {
    private static final long PERIOD_MS = 10;
    private static final int BLOCKS = 4;

    private final Random random = new Random();

    @Override
    public void run() {
        Block[] blocks = new Block[BLOCKS];
        for (int id = 0; id < BLOCKS; id++) {
            blocks[id] = new Block(1000 + id, 1, 1);
        }
        try {
            while (true) {
                Block block = blocks[random.nextInt(BLOCKS)];
                block.size = random.nextInt(1 << 20);
                block.replicas = random.nextInt(5);
                Thread.sleep(PERIOD_MS);
            }
        } catch (InterruptedException over) {
            // The test is over.
        }
    }
}
