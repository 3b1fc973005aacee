package assign;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** News of the registry: a region has a state at a server, or a server is up or gone. */
record Change(String kind, String name, String state, String server) {
    static Change read(DataInput in) throws IOException {
        return new Change(in.readUTF(), in.readUTF(), in.readUTF(), in.readUTF());
    }

    void write(DataOutput out) throws IOException {
        out.writeUTF(kind);
        out.writeUTF(name);
        out.writeUTF(state);
        out.writeUTF(server);
    }
}
