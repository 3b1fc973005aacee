package snapshot;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;

/** A client at a server. */
final class Session {
    private Session() {}

    static void serve(Socket socket, Requests requests) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        while (true) {
            String request;
            try {
                request = in.readUTF();
            } catch (EOFException e) {
                return;
            }
            String answer = switch (request) {
                case "SET" -> requests.set(in.readUTF(), in.readUTF());
                case "GET" -> requests.get(in.readUTF());
                default -> throw new IOException("unknown request " + request);
            };
            out.writeUTF(answer);
            out.flush();
        }
    }
}
