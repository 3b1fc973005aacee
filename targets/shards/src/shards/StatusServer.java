package shards;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Tells who connects, and says {@code status}, how the hosts are. */
final class StatusServer implements Runnable, Closeable {
    private static final Logger LOG = Logger.getLogger(StatusServer.class.getName());

    private final CellManager manager;
    private final ServerSocket server;

    StatusServer(CellManager manager) throws IOException {
        this.manager = manager;
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    int port() {
        return server.getLocalPort();
    }

    @Override
    public void run() {
        while (!server.isClosed()) {
            try (Socket client = server.accept()) {
                answer(client);
            } catch (IOException e) {
                LOG.log(Level.FINE, "a client was not answered", e);
            }
        }
    }

    private void answer(Socket client) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
        String asked = in.readLine();
        if (!"status".equals(asked)) {
            throw new IOException("not a question: " + asked);
        }
        try (Writer out = new OutputStreamWriter(client.getOutputStream(), StandardCharsets.UTF_8)) {
            for (String line : manager.status()) {
                out.write(line + "\n");
            }
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
