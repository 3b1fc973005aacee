package snapshot;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/** A server as a client sees it. A connection that failed is replaced with the next call. */
final class Connection implements Closeable {
    private static final int ANSWER_MS = 2000;

    private final int port;
    private Socket socket;
    private DataInputStream in;
    private DataOutputStream out;

    Connection(int port) {
        this.port = port;
    }

    String call(String... words) throws IOException {
        try {
            if (socket == null) {
                connect();
            }
            for (String word : words) {
                out.writeUTF(word);
            }
            out.flush();
            return in.readUTF();
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private void connect() throws IOException {
        socket = new Socket();
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), ANSWER_MS);
        socket.setSoTimeout(ANSWER_MS);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
    }

    @Override
    public void close() throws IOException {
        if (socket != null) {
            socket.close();
            socket = null;
        }
    }
}
