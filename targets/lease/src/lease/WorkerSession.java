package lease;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A client's connection to a worker. */
final class WorkerSession implements Runnable {
    private static final Logger LOG = Logger.getLogger(WorkerSession.class.getName());

    private final Worker worker;
    private final Socket socket;

    WorkerSession(Worker worker, Socket socket) {
        this.worker = worker;
        this.socket = socket;
    }

    @Override
    public void run() {
        try (socket;
                DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
                DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()))) {
            Thread.currentThread().setName("Session-" + in.readUTF());
            while (true) {
                out.writeUTF(serve(in.readUTF(), in));
                out.flush();
            }
        } catch (EOFException e) {
            LOG.info("client has gone");
        } catch (IOException e) {
            LOG.log(Level.WARNING, "connection lost", e);
        }
    }

    private String serve(String operation, DataInputStream in) throws IOException {
        switch (operation) {
            case "PUT":
                return worker.put(in.readInt(), in.readUTF(), in.readUTF()) ? "OK" : "NOT OURS";
            case "GET":
                String value = worker.get(in.readInt(), in.readUTF());
                return value == null ? "NOTHING" : "VALUE " + value;
            case "JOIN":
                worker.join();
                return "OK";
            default:
                throw new IOException("unknown operation " + operation);
        }
    }
}
