package quorum;

/** One key: its bytes, how often they changed, and how many children it has. Its monitor guards all three. */
final class DataNode {
    private byte[] data;
    private int version;
    private int children;

    DataNode(byte[] data, int version, int children) {
        this.data = data;
        this.version = version;
        this.children = children;
    }

    synchronized byte[] data() {
        return data;
    }

    synchronized int version() {
        return version;
    }

    synchronized int children() {
        return children;
    }

    synchronized void set(byte[] bytes) {
        data = bytes;
        version++;
    }

    synchronized void addChild() {
        children++;
    }
}
