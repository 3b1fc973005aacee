package lease;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A connection to the coordinator: the beats of a worker, or the questions of a client. */
final class CoordinatorSession implements Runnable {
    private static final Logger LOG = Logger.getLogger(CoordinatorSession.class.getName());

    private final LeaseTable table;
    private final Socket socket;

    CoordinatorSession(LeaseTable table, Socket socket) {
        this.table = table;
        this.socket = socket;
    }

    @Override
    public void run() {
        try (socket;
                DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
                DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()))) {
            String name = in.readUTF();
            Thread.currentThread().setName("Session-" + name);
            while (true) {
                serve(in.readUTF(), name, in, out);
                out.flush();
            }
        } catch (EOFException e) {
            LOG.info("connection closed");
        } catch (IOException e) {
            LOG.log(Level.WARNING, "connection lost", e);
        }
    }

    private void serve(String operation, String name, DataInputStream in, DataOutputStream out) throws IOException {
        switch (operation) {
            case "BEAT" -> {
                Map<Integer, Integer> owned = table.beat(name, in.readInt());
                out.writeInt(owned.size());
                for (Map.Entry<Integer, Integer> lease : owned.entrySet()) {
                    out.writeInt(lease.getKey());
                    out.writeInt(lease.getValue());
                }
            }
            case "LOCATE" -> out.writeInt(table.portOf(in.readInt()));
            default -> throw new IOException("unknown operation " + operation);
        }
    }
}
