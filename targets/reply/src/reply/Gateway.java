package reply;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Passes requests of clients to the server, over one channel. A call that failed is made again. */
public final class Gateway {
    private static final Logger LOG = Logger.getLogger(Gateway.class.getName());
    private static final long RETRY_MS = 100;
    private static final int ATTEMPTS = 40;

    private final int port;
    private Channel channel;

    private Gateway(int port) {
        this.port = port;
    }

    public static void main(String[] args) {
        Logging.install();
        Options options = new Options(args);
        try {
            Gateway gateway = new Gateway(options.number("server", 7860));
            new Acceptor("ClientAcceptor", options.number("clients", 7861), gateway::serve).start();
            LOG.info("the gateway is open");
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    private void serve(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        while (true) {
            String request;
            try {
                request = in.readUTF();
            } catch (EOFException e) {
                return;
            }
            try {
                out.writeUTF(pass(request));
            } catch (InterruptedException e) {
                throw new IOException("interrupted", e);
            }
            out.flush();
        }
    }

    private String pass(String request) throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return channel().call(request);
            } catch (IOException e) {
                LOG.log(Level.INFO, "{0} is not answered: {1}", new Object[] {request, e.toString()});
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
            Thread.sleep(RETRY_MS);
        }
    }

    private synchronized Channel channel() throws IOException {
        if (channel == null || channel.isBroken()) {
            channel = new Channel(port);
        }
        return channel;
    }
}
