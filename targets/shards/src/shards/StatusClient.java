package shards;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Asks a status server, and again if that fails. */
final class StatusClient {
    private static final Logger LOG = Logger.getLogger(StatusClient.class.getName());
    private static final int TIMEOUT_MS = 5000;

    private final int port;
    private int triesLeft;

    StatusClient(int port, int tries) {
        this.port = port;
        triesLeft = tries;
    }

    List<String> status() throws CellException {
        while (mayTry()) {
            try {
                return ask();
            } catch (IOException e) {
                LOG.log(Level.WARNING, "no status, asking again", e);
            }
        }
        throw new CellException("no status after so many tries");
    }

    private boolean mayTry() {
        return triesLeft-- > 0;
    }

    private List<String> ask() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(TIMEOUT_MS);
            socket.getOutputStream().write("status\n".getBytes(StandardCharsets.UTF_8));
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            return in.lines().toList();
        }
    }
}
