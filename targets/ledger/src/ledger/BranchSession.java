package ledger;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A connection to a branch. What cannot be done is answered, and the connection goes on. */
final class BranchSession implements Runnable {
    private static final Logger LOG = Logger.getLogger(BranchSession.class.getName());

    private final Accounts accounts;
    private final Socket socket;

    BranchSession(Accounts accounts, Socket socket) {
        this.accounts = accounts;
        this.socket = socket;
    }

    @Override
    public void run() {
        try (socket;
                DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
                DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()))) {
            Thread.currentThread().setName("Session-" + in.readUTF());
            while (true) {
                Order order = Order.read(in);
                out.writeUTF(carryOut(order));
                out.flush();
            }
        } catch (EOFException e) {
            LOG.info("connection closed");
        } catch (IOException e) {
            LOG.log(Level.WARNING, "connection lost", e);
        }
    }

    private String carryOut(Order order) {
        try {
            switch (order.kind()) {
                case "CHANGE" -> accounts.change(order.transfer(), order.account(), order.amount());
                case "UNDO" -> accounts.undo(order.transfer());
                case "TOTAL" -> {
                    return "OK " + accounts.total();
                }
                default -> throw new IOException("unknown order " + order.kind());
            }
            return "OK";
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot carry out " + order, e);
            return "ERROR " + e.getMessage();
        }
    }
}
