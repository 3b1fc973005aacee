package quorum;

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.Adler32;
import java.util.zip.CheckedOutputStream;

/** A tree as a stream of records with a checksum behind the last, for a file or for a socket. */
final class RecordOutput {
    static final int MAGIC = 0x51534e50;

    private final CheckedOutputStream checked;
    private final DataOutputStream out;

    RecordOutput(OutputStream target) {
        checked = new CheckedOutputStream(new BufferedOutputStream(target), new Adler32());
        out = new DataOutputStream(checked);
    }

    void writeHeader(long zxid) throws IOException {
        out.writeInt(MAGIC);
        out.writeLong(zxid);
    }

    void writeRecord(String path, DataNode node) throws IOException {
        out.writeUTF(path);
        out.writeInt(node.version());
        out.writeInt(node.children());
        byte[] data = node.data();
        out.writeInt(data.length);
        out.write(data);
    }

    void writeEnd() throws IOException {
        out.writeUTF("");
        out.writeLong(checked.getChecksum().getValue());
        out.flush();
    }
}
