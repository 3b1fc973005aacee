package wal;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;

/**
 * One log file at the peer, open for writing. Edits are gathered by {@link #append} and leave as one packet by
 * {@link #sync}; the answers come in at an {@link AckReader}. A stream that broke once is never used again.
 */
final class LogStream implements Closeable {
    private final String name;
    private final Socket socket;
    private final DataOutputStream out;
    private final DataInputStream in;
    private final ByteArrayOutputStream gathered = new ByteArrayOutputStream();
    private final DataOutputStream encoder = new DataOutputStream(gathered);
    private long lastTxid;
    private long length;
    private volatile boolean closed;

    private LogStream(String name, Socket socket) throws IOException {
        this.name = name;
        this.socket = socket;
        this.out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 16 << 10));
        this.in = new DataInputStream(socket.getInputStream());
    }

    static LogStream open(int peerPort, String name) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), peerPort);
        try {
            socket.setTcpNoDelay(true);
            LogStream stream = new LogStream(name, socket);
            stream.out.writeUTF("WRITE");
            stream.out.writeUTF(name);
            stream.out.flush();
            Ack.read(stream.in).verify(name);
            return stream;
        } catch (IOException e) {
            socket.close();
            throw new IOException("cannot create " + name + " at the peer", e);
        }
    }

    String name() {
        return name;
    }

    boolean isClosed() {
        return closed;
    }

    /** Bytes written, sent or not. */
    long length() {
        return length;
    }

    int gatheredBytes() {
        return gathered.size();
    }

    void append(Edit edit) throws IOException {
        int before = gathered.size();
        edit.write(encoder);
        lastTxid = edit.txid();
        length += gathered.size() - before;
    }

    void sync() throws IOException {
        Packet packet = new Packet(lastTxid, gathered.toByteArray());
        gathered.reset();
        packet.write(out);
    }

    Ack readAck() throws IOException {
        return Ack.read(in);
    }

    @Override
    public void close() throws IOException {
        closed = true;
        socket.close();
    }
}
