package reply;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Answers requests of gateways. Several threads handle them, so that a slow one does not hold up others. */
public final class Server {
    private static final Logger LOG = Logger.getLogger(Server.class.getName());
    private static final int HANDLERS = 3;

    private final Counters counters;
    private final ExecutorService handlers = Executors.newFixedThreadPool(HANDLERS);

    private Server(Counters counters) {
        this.counters = counters;
    }

    public static void main(String[] args) {
        Logging.install();
        Options options = new Options(args);
        try {
            Server server = new Server(new Counters(Path.of(options.text("data"))));
            new Acceptor("Acceptor", options.number("port", 7860), server::serve).start();
            LOG.info("the server is there");
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    private void serve(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        while (true) {
            int number;
            try {
                number = in.readInt();
            } catch (EOFException e) {
                return;
            }
            String request = in.readUTF();
            handlers.execute(() -> handle(number, request, out));
        }
    }

    private void handle(int number, String request, DataOutputStream out) {
        try {
            String answer = counters.raise(request);
            synchronized (out) {
                out.writeInt(number);
                out.writeUTF(answer);
                out.flush();
            }
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot answer call " + number, e);
        }
    }
}
