package quorum;

import java.io.IOException;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The replicated keys, as paths below "/". One thread applies changes, any thread reads, and a snapshot may be
 * written meanwhile: it is fuzzy, and applying the changes behind its `zxid` again makes it exact.
 */
final class DataTree {
    enum Result { OK, EXISTS, NO_NODE, RETRY }

    private final ConcurrentNavigableMap<String, DataNode> nodes = new ConcurrentSkipListMap<>();
    private volatile long zxid;

    DataTree() {
        nodes.put("/", new DataNode(new byte[0], 0, 0));
    }

    long zxid() {
        return zxid;
    }

    int size() {
        return nodes.size();
    }

    DataNode find(String path) {
        return nodes.get(path);
    }

    static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash <= 0 ? "/" : path.substring(0, slash);
    }

    Result apply(Txn txn) {
        Result result = txn.create() ? create(txn) : set(txn);
        zxid = txn.zxid();
        return result;
    }

    private Result create(Txn txn) {
        DataNode parent = nodes.get(parent(txn.path()));
        if (parent == null) {
            return Result.NO_NODE;
        }
        synchronized (parent) {
            if (nodes.putIfAbsent(txn.path(), new DataNode(txn.data(), 0, 0)) != null) {
                return Result.EXISTS;
            }
            parent.addChild();
        }
        return Result.OK;
    }

    private Result set(Txn txn) {
        DataNode node = nodes.get(txn.path());
        if (node == null) {
            return Result.NO_NODE;
        }
        node.set(txn.data());
        return Result.OK;
    }

    void serialize(RecordOutput out) throws IOException {
        out.writeHeader(zxid);
        for (String path : nodes.keySet()) {
            serializeNode(out, path);
        }
        out.writeEnd();
    }

    private void serializeNode(RecordOutput out, String path) throws IOException {
        DataNode node = nodes.get(path);
        // The record must be one version of the node: nobody may change it before it is written.
        synchronized (node) {
            out.writeRecord(path, node);
        }
    }

    static DataTree deserialize(RecordInput in) throws IOException {
        DataTree tree = new DataTree();
        tree.zxid = in.readHeader();
        for (String path = in.readPath(); !path.isEmpty(); path = in.readPath()) {
            tree.nodes.put(path, in.readNode());
        }
        in.readEnd();
        return tree;
    }
}
