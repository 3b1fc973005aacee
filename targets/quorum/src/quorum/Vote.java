package quorum;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** What a server says of itself in an election. The longest log wins, and among equals the lowest number. */
record Vote(int id, QuorumPeer.Role role, long zxid) implements Comparable<Vote> {
    @Override
    public int compareTo(Vote other) {
        return zxid != other.zxid ? Long.compare(other.zxid, zxid) : Integer.compare(id, other.id);
    }

    Message toMessage() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(id);
        out.writeUTF(role.name());
        out.writeLong(zxid);
        out.flush();
        return new Message(Message.Type.VOTE, id, bytes.toByteArray());
    }

    static Vote fromMessage(Message message) throws IOException {
        if (message.type() != Message.Type.VOTE) {
            throw new IOException("a vote was expected, not " + message.type());
        }
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(message.body()));
        return new Vote(in.readInt(), QuorumPeer.Role.valueOf(in.readUTF()), in.readLong());
    }
}
