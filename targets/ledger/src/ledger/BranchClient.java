package ledger;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A branch as others see it. A connection that failed is not used again: nobody knows what is still on its way. */
final class BranchClient implements Closeable {
    private static final Logger LOG = Logger.getLogger(BranchClient.class.getName());
    private static final int CONNECT_MS = 1000;
    private static final int ANSWER_MS = 5000;

    private final int port;
    private final String name;
    private Socket socket;
    private DataInputStream in;
    private DataOutputStream out;

    BranchClient(int port, String name) {
        this.port = port;
        this.name = name;
    }

    void change(long transfer, String account, long amount) throws IOException {
        call(new Order("CHANGE", transfer, account, amount));
    }

    /** Takes a change back, whether it was made or not; it cannot be made later either. */
    void undo(long transfer) throws IOException {
        call(new Order("UNDO", transfer, "", 0));
    }

    long total() throws IOException {
        return Long.parseLong(call(new Order("TOTAL", 0, "", 0)).substring(3));
    }

    private String call(Order order) throws IOException {
        String answer;
        try {
            if (socket == null) {
                connect();
            }
            order.write(out);
            out.flush();
            answer = in.readUTF();
        } catch (IOException e) {
            drop();
            throw e;
        }
        if (!answer.startsWith("OK")) {
            throw new IOException("branch " + port + " says " + answer);
        }
        return answer;
    }

    private void connect() throws IOException {
        socket = new Socket();
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MS);
        socket.setSoTimeout(ANSWER_MS);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        out.writeUTF(name);
    }

    private void drop() {
        try {
            close();
        } catch (IOException e) {
            LOG.log(Level.INFO, "cannot close the connection to branch " + port, e);
        }
        socket = null;
    }

    @Override
    public void close() throws IOException {
        if (socket != null) {
            socket.close();
        }
    }
}
