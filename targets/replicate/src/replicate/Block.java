package replicate;

/** A block of a file. */
final class Block {
    final int id;
    volatile long size;
    volatile int replicas;

    Block(int id, long size, int replicas) {
        this.id = id;
        this.size = size;
        this.replicas = replicas;
    }
}
