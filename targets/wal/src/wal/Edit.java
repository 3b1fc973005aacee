package wal;

import java.io.DataOutputStream;
import java.io.IOException;

/** One entry of the log: a cell or a marker, its number in the log, and the future of whoever waits for it. */
record Edit(long txid, String key, String value, SyncFuture future) {
    static final String MARKER = "METAFAMILY:";

    Edit(long txid, String key, String value) {
        this(txid, key, value, new SyncFuture(txid));
    }

    void write(DataOutputStream out) throws IOException {
        out.writeLong(txid);
        out.writeUTF(key);
        out.writeUTF(value);
    }
}
