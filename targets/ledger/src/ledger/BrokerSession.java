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

/** A teller at the broker, with a clerk of its own. */
final class BrokerSession implements Runnable {
    private static final Logger LOG = Logger.getLogger(BrokerSession.class.getName());

    private final Broker broker;
    private final Socket socket;

    BrokerSession(Broker broker, Socket socket) {
        this.broker = broker;
        this.socket = socket;
    }

    @Override
    public void run() {
        try (socket;
                DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
                DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()))) {
            String teller = in.readUTF();
            Thread.currentThread().setName("Session-" + teller);
            try (Clerk clerk = new Clerk(broker.intents, broker.ports, teller)) {
                while (true) {
                    out.writeUTF(serve(in, clerk));
                    out.flush();
                }
            }
        } catch (EOFException e) {
            LOG.info("teller has gone");
        } catch (IOException e) {
            LOG.log(Level.WARNING, "connection lost", e);
        }
    }

    private String serve(DataInputStream in, Clerk clerk) throws IOException {
        String request = in.readUTF();
        switch (request) {
            case "TRANSFER":
                return transfer(Transfer.read(broker.nextId(), in), clerk);
            case "OPEN":
                return Integer.toString(broker.intents.count());
            default:
                throw new IOException("unknown request " + request);
        }
    }

    private String transfer(Transfer transfer, Clerk clerk) {
        try {
            return clerk.carryOut(transfer) ? "DONE" : "FAILED";
        } catch (IOException e) {
            LOG.log(Level.WARNING, "transfer " + transfer.id() + " is neither done nor undone", e);
            return "FAILED";
        }
    }
}
