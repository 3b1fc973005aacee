package replicate;

/** A node that stores replicas of blocks. */
final class DataNode {
    final String name;
    final long capacity;

    DataNode(String name, long capacity) {
        this.name = name;
        this.capacity = capacity;
    }
}
