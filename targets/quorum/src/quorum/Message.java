package quorum;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** A frame on any of the sockets: a type, a number whose meaning the type gives, and bytes. */
record Message(Type type, long number, byte[] body) {
    private static final int MAX_FRAME = 1 << 20;
    private static final byte[] NOTHING = {};

    enum Type { VOTE, JOIN, UPTODATE, REQUEST, PROPOSE, ACK, COMMIT, PING, PONG, CONNECT, CREATE, SET, GET, REPLY }

    static Message of(Type type, long number) {
        return new Message(type, number, NOTHING);
    }

    /** A frame is put together in memory first, so that a half-built one never reaches the wire. */
    void writeTo(DataOutputStream out) throws IOException {
        ByteArrayOutputStream frame = new ByteArrayOutputStream(body.length + 16);
        DataOutputStream fields = new DataOutputStream(frame);
        fields.writeByte(type.ordinal());
        fields.writeLong(number);
        fields.write(body);
        out.writeInt(frame.size());
        frame.writeTo(out);
        out.flush();
    }

    static Message readFrom(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 9 || length > MAX_FRAME) {
            throw new IOException("bad frame of " + length + " bytes");
        }
        int type = in.readUnsignedByte();
        if (type >= Type.values().length) {
            throw new IOException("unknown message type " + type);
        }
        long number = in.readLong();
        byte[] body = new byte[length - 9];
        in.readFully(body);
        return new Message(Type.values()[type], number, body);
    }
}
