package replicate;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** The blocks and nodes of a file system. */
final class Namesystem {
    private static final long CAPACITY = 1L << 40;

    final Queue<Block> neededReplications = new ConcurrentLinkedQueue<>();
    final AtomicInteger copies = new AtomicInteger();
    private final List<DataNode> nodes = new ArrayList<>();
    private final Random random = new Random();
    private volatile boolean running = true;
    private volatile boolean safeMode = true;
    private volatile int factor = 3;

    Namesystem(int count) {
        for (int node = 0; node < count; node++) {
            nodes.add(new DataNode("dn" + node, CAPACITY));
        }
    }

    boolean isRunning() {
        return running;
    }

    void stop() {
        running = false;
    }

    /** In safe mode nothing is replicated. */
    boolean isInSafeMode() {
        return safeMode;
    }

    void leaveSafeMode() {
        safeMode = false;
    }

    int factor() {
        return factor;
    }

    /** Asks for so many replicas of a block. */
    void setReplication(Block block, int wanted) {
        factor = wanted;
        if (block.replicas < wanted) {
            neededReplications.add(block);
        }
    }

    /** The nodes, each time in another order. */
    List<DataNode> inRandomOrder() {
        List<DataNode> shuffled = new ArrayList<>(nodes);
        Collections.shuffle(shuffled, random);
        return shuffled;
    }
}
