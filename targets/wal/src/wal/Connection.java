package wal;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;

/** A client's connection to the server or to the peer: operations go out, answers come in, in the same order. */
final class Connection implements Closeable {
    private static final int READ_TIMEOUT_MS = 4000;

    private final Socket socket;
    private final DataOutputStream out;
    private final DataInputStream in;

    Connection(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(READ_TIMEOUT_MS);
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    }

    /** Sends without waiting for the answer. */
    void send(String... words) throws IOException {
        for (String word : words) {
            out.writeUTF(word);
        }
        out.flush();
    }

    String answer() throws IOException {
        String answer = in.readUTF();
        if (answer.startsWith("ERROR")) {
            throw new IOException("refused: " + answer);
        }
        return answer;
    }

    String call(String... words) throws IOException {
        send(words);
        return answer();
    }

    DataInputStream in() {
        return in;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
