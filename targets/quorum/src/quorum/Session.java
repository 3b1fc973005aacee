package quorum;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;

/** A client's connection to one server, one request at a time. */
final class Session implements Closeable {
    private static final int ATTEMPT_MS = 1_500;

    private final Socket socket = new Socket();
    private final DataInputStream in;
    private final DataOutputStream out;
    private final long number;

    /** `renew` is the number of an earlier session, or 0. */
    Session(int server, long renew) throws IOException {
        try {
            socket.connect(Config.clients(server), ATTEMPT_MS);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(ATTEMPT_MS);
            in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            out = new DataOutputStream(socket.getOutputStream());
            Message.of(Message.Type.CONNECT, renew).writeTo(out);
            number = Message.readFrom(in).number();
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    long number() {
        return number;
    }

    Message ask(Message.Type type, String path, byte[] data) throws IOException {
        Txn asked = new Txn(0, 0, 0, type == Message.Type.CREATE, path, data);
        new Message(type, 0, asked.toBytes()).writeTo(out);
        return Message.readFrom(in);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
