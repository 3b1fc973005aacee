package ledger;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Orders transfers from one branch to the other and back. Every so often one is from an account that was closed. */
final class Teller implements Closeable {
    private static final Logger LOG = Logger.getLogger(Teller.class.getName());
    private static final int CLOSED_EVERY = 20;
    private static final int ATTEMPTS = 3;
    private static final int ANSWER_MS = 12_000;

    private final String name;
    private final int brokerPort;
    private Socket socket;
    private DataInputStream in;
    private DataOutputStream out;

    Teller(String name, int brokerPort) {
        this.name = name;
        this.brokerPort = brokerPort;
    }

    void work(int number, int transfers) throws IOException {
        for (int i = 1; i <= transfers; i++) {
            int from = i % 2;
            boolean closed = i % CLOSED_EVERY == 0;
            String account = closed ? "closed" : account(number, i);
            Transfer transfer = new Transfer(0, from, account, 1 - from, account(number, i + 1), i);
            if (order(transfer) == closed) {
                LOG.log(Level.WARNING, "{0}: transfer {1} from {2} did not end as it should",
                        new Object[] {name, i, account});
            }
        }
    }

    /** An account that only this teller uses. */
    private static String account(int teller, int number) {
        return "account-" + (teller * 4 + number % 4);
    }

    /** A transfer that failed is over: nothing has changed, and the customer comes again. */
    private boolean order(Transfer transfer) throws IOException {
        return ask(() -> {
            out.writeUTF("TRANSFER");
            transfer.write(out);
        }).equals("DONE");
    }

    /** How many transfers have neither been done nor undone. */
    int open() throws IOException {
        return Integer.parseInt(ask(() -> out.writeUTF("OPEN")));
    }

    private interface Request {
        void write() throws IOException;
    }

    private String ask(Request request) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                if (socket == null) {
                    connect();
                }
                request.write();
                out.flush();
                return in.readUTF();
            } catch (IOException e) {
                LOG.log(Level.WARNING, name + " has lost the broker, attempt " + attempt, e);
                close();
                socket = null;
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private void connect() throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), brokerPort);
        socket.setSoTimeout(ANSWER_MS);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        out.writeUTF(name);
    }

    @Override
    public void close() throws IOException {
        if (socket != null) {
            socket.close();
        }
    }
}
