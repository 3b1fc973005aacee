package ledger;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** Money that goes from an account of one branch to an account of another. */
record Transfer(long id, int fromBranch, String from, int toBranch, String to, long amount) {
    static Transfer read(long id, DataInputStream in) throws IOException {
        return new Transfer(id, in.readInt(), in.readUTF(), in.readInt(), in.readUTF(), in.readLong());
    }

    void write(DataOutputStream out) throws IOException {
        out.writeInt(fromBranch);
        out.writeUTF(from);
        out.writeInt(toBranch);
        out.writeUTF(to);
        out.writeLong(amount);
    }
}
