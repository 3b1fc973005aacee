package snapshot;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/** All keys with their values, and the number of the last change. */
final class Tree {
    private final Map<String, String> values = new TreeMap<>();
    private long zxid;

    synchronized void apply(Txn txn) {
        values.put(txn.key(), txn.value());
        zxid = txn.zxid();
    }

    synchronized String get(String key) {
        return values.getOrDefault(key, "");
    }

    synchronized long zxid() {
        return zxid;
    }

    /** The tree of a new leader begins with a number of its epoch. */
    synchronized void begin(long first) {
        zxid = first;
    }

    synchronized void write(DataOutput out) throws IOException {
        out.writeLong(zxid);
        out.writeInt(values.size());
        for (Map.Entry<String, String> it : values.entrySet()) {
            out.writeUTF(it.getKey());
            out.writeUTF(it.getValue());
        }
    }

    static Tree read(DataInput in) throws IOException {
        Tree tree = new Tree();
        tree.zxid = in.readLong();
        for (int left = in.readInt(); left > 0; left--) {
            String key = in.readUTF();
            tree.values.put(key, in.readUTF());
        }
        return tree;
    }
}
