package lease;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** What a journal has: a value of a key, written by a worker under an epoch of the shard. */
record Entry(int epoch, String worker, String key, String value) {
    static Entry read(DataInputStream in) throws IOException {
        return new Entry(in.readInt(), in.readUTF(), in.readUTF(), in.readUTF());
    }

    void write(DataOutputStream out) throws IOException {
        out.writeInt(epoch);
        out.writeUTF(worker);
        out.writeUTF(key);
        out.writeUTF(value);
    }
}
