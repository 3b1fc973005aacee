package quorum;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * A change of the tree. A request is one without a place in the order yet (`zxid` 0); `origin` and `request` tell the
 * server that a client asked whom to answer.
 */
record Txn(long zxid, int origin, long request, boolean create, String path, byte[] data) {
    Txn at(long place) {
        return new Txn(place, origin, request, create, path, data);
    }

    byte[] toBytes() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(zxid);
            out.writeInt(origin);
            out.writeLong(request);
            out.writeBoolean(create);
            out.writeUTF(path);
            out.writeInt(data.length);
            out.write(data);
        }
        return bytes.toByteArray();
    }

    static Txn fromBytes(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        long zxid = in.readLong();
        int origin = in.readInt();
        long request = in.readLong();
        boolean create = in.readBoolean();
        String path = in.readUTF();
        byte[] data = new byte[in.readInt()];
        in.readFully(data);
        return new Txn(zxid, origin, request, create, path, data);
    }
}
