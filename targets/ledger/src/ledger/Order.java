package ledger;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** What a branch is asked to do. */
record Order(String kind, long transfer, String account, long amount) {
    static Order read(DataInputStream in) throws IOException {
        return new Order(in.readUTF(), in.readLong(), in.readUTF(), in.readLong());
    }

    void write(DataOutputStream out) throws IOException {
        out.writeUTF(kind);
        out.writeLong(transfer);
        out.writeUTF(account);
        out.writeLong(amount);
    }
}
