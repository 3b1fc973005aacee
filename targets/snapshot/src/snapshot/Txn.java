package snapshot;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** A change of one key. The upper half of its number is the epoch of the leader that made it. */
record Txn(long zxid, String key, String value) {
    static long epochOf(long zxid) {
        return zxid >>> 32;
    }

    static long first(long epoch) {
        return epoch << 32;
    }

    static Txn read(DataInput in) throws IOException {
        return new Txn(in.readLong(), in.readUTF(), in.readUTF());
    }

    void write(DataOutput out) throws IOException {
        out.writeLong(zxid);
        out.writeUTF(key);
        out.writeUTF(value);
    }
}
