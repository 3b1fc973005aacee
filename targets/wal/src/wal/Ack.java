package wal;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** The peer's answer: everything up to this packet is on its disk, or why not. */
record Ack(Status status, long number) {
    enum Status { SUCCESS, ERROR, RELOCATED }

    static Ack read(DataInputStream in) throws IOException {
        int status = in.readUnsignedByte();
        long number = in.readLong();
        if (status >= Status.values().length) {
            throw new IOException("unknown status " + status);
        }
        return new Ack(Status.values()[status], number);
    }

    void write(DataOutputStream out) throws IOException {
        out.writeByte(status.ordinal());
        out.writeLong(number);
        out.flush();
    }

    void verify(String log) throws IOException {
        if (status != Status.SUCCESS) {
            throw new IOException("Bad response " + status + " for packet " + number + " of " + log);
        }
    }
}
