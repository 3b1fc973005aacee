package quorum;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.Adler32;
import java.util.zip.CheckedInputStream;

/** Reads what RecordOutput wrote, and no byte further: more messages may follow on the same socket. */
final class RecordInput {
    private static final int MAX_DATA = 1 << 20;

    private final CheckedInputStream checked;
    private final DataInputStream in;

    RecordInput(InputStream source) {
        checked = new CheckedInputStream(source, new Adler32());
        in = new DataInputStream(checked);
    }

    long readHeader() throws IOException {
        int magic = in.readInt();
        if (magic != RecordOutput.MAGIC) {
            throw new IOException("not a snapshot: starts with " + Integer.toHexString(magic));
        }
        return in.readLong();
    }

    String readPath() throws IOException {
        return in.readUTF();
    }

    DataNode readNode() throws IOException {
        int version = in.readInt();
        int children = in.readInt();
        int length = in.readInt();
        if (length < 0 || length > MAX_DATA) {
            throw new IOException("bad record of " + length + " bytes in a snapshot");
        }
        byte[] data = new byte[length];
        in.readFully(data);
        return new DataNode(data, version, children);
    }

    void readEnd() throws IOException {
        long expected = checked.getChecksum().getValue();
        long found = in.readLong();
        if (found != expected) {
            throw new IOException("snapshot has checksum " + found + " instead of " + expected);
        }
    }
}
