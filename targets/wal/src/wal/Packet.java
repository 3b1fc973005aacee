package wal;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.zip.CRC32;

/** A piece of a log file on its way to the peer. Its number is the txid of the last edit in it. */
record Packet(long number, byte[] bytes) {
    private static final int MAX_BYTES = 1 << 20;

    static Packet read(DataInputStream in) throws IOException {
        long number = in.readLong();
        int length = in.readInt();
        if (length < 0 || length > MAX_BYTES) {
            throw new IOException("packet " + number + " says it has " + length + " bytes");
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        long checksum = in.readLong();
        if (checksum != checksum(bytes)) {
            throw new IOException("packet " + number + " has a wrong checksum");
        }
        return new Packet(number, bytes);
    }

    void write(DataOutputStream out) throws IOException {
        out.writeLong(number);
        out.writeInt(bytes.length);
        out.write(bytes);
        out.writeLong(checksum(bytes));
        out.flush();
    }

    private static long checksum(byte[] bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return crc.getValue();
    }
}
