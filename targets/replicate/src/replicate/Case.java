package replicate;

import java.util.ArrayList;
import java.util.List;

/**
 * The tests: {@code Case NAME [--noise THREADS]}. Each builds a file system of its own and ends with 0 if it holds.
 */
public final class Case {
    private static final int NODES = 8;
    private static final long LIMIT_MS = 20_000;
    /** A client does not wait any longer for a deletion. */
    private static final long PATIENCE_MS = 500;

    private final Namesystem namesystem = new Namesystem(NODES);
    private final Thread monitor = new Thread(new ReplicationMonitor(namesystem), "ReplicationMonitor");

    public static void main(String[] args) throws Exception {
        List<Thread> noise = new ArrayList<>();
        for (int at = 1; at + 1 < args.length; at += 2) {
            for (int number = Integer.parseInt(args[at + 1]); args[at].equals("--noise") && number > 0; number--) {
                noise.add(new Thread(new Noise(), "Noise-" + number));
            }
        }
        for (Thread thread : noise) {
            thread.setDaemon(true);
            thread.start();
        }
        Case test = new Case();
        switch (args[0]) {
            case "changeFactor" -> test.changeFactor();
            case "replicate" -> test.replicate();
            case "remove" -> test.remove();
            case "race" -> test.race();
            default -> throw new IllegalArgumentException("there is no test " + args[0]);
        }
        for (Thread thread : noise) {
            thread.interrupt();
            thread.join();
        }
        System.out.println("INFO " + args[0] + " is over");
    }

    /** A file of 3 replicas gets 5. */
    void changeFactor() throws InterruptedException {
        Block block = new Block(1, 4096, 3);
        begin();
        namesystem.setReplication(block, 5);
        await(block, 5);
        end();
    }

    /** A file of 1 replica gets 2. */
    void replicate() throws InterruptedException {
        Block block = new Block(1, 4096, 1);
        begin();
        namesystem.setReplication(block, 2);
        await(block, 2);
        end();
    }

    /** A file that has all its replicas is deleted. */
    void remove() throws InterruptedException {
        Block block = new Block(1, 4096, 3);
        begin();
        Thread deleter = delete(block);
        deleter.join();
        check(block.size == Long.MAX_VALUE, "the block is deleted");
        end();
    }

    /** A file of 2 replicas is to have 3, and is deleted before it has. */
    void race() throws InterruptedException {
        Block block = new Block(1, 4096, 2);
        monitor.start();
        namesystem.setReplication(block, 3);
        Thread deleter = delete(block);
        deleter.join(PATIENCE_MS);
        namesystem.leaveSafeMode();
        deleter.join();
        end();
    }

    private void begin() {
        namesystem.leaveSafeMode();
        monitor.start();
    }

    private Thread delete(Block block) {
        Thread deleter = new Thread(new Deleter(namesystem, block), "DeleteBlock");
        deleter.start();
        return deleter;
    }

    private void await(Block block, int replicas) throws InterruptedException {
        long end = System.currentTimeMillis() + LIMIT_MS;
        while (block.replicas < replicas && System.currentTimeMillis() < end) {
            Thread.sleep(5);
        }
        check(block.replicas == replicas, "the block has " + replicas + " replicas");
    }

    private void end() throws InterruptedException {
        namesystem.stop();
        monitor.join();
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
