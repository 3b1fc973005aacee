package lease;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/** A connection to another process, which says first who speaks. */
final class Connection implements Closeable {
    private static final int CONNECT_MS = 1000;
    private static final int ANSWER_MS = 10_000;

    private final Socket socket = new Socket();
    private final DataInputStream in;
    private final DataOutputStream out;

    Connection(int port, String name) throws IOException {
        try {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MS);
            socket.setSoTimeout(ANSWER_MS);
            socket.setTcpNoDelay(true);
            in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            out.writeUTF(name);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    DataInputStream in() {
        return in;
    }

    DataOutputStream out() {
        return out;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
