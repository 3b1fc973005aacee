package quorum;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;

/** The command that asks a server how it is: prints its answer, and ends with 0 if that is "ok". */
public final class Health {
    private static final int PATIENCE_MS = 2_000;
    private static final int ATTEMPTS = 3;

    private Health() {}

    public static void main(String[] args) {
        int port = Integer.parseInt(args[0]);
        String answer = null;
        for (int attempt = 1; attempt <= ATTEMPTS && answer == null; attempt++) {
            try {
                answer = ask(port);
            } catch (IOException e) {
                System.err.println("no answer on port " + port + " (attempt " + attempt + "): " + e);
            }
        }
        System.out.println(answer == null ? "no answer" : answer);
        System.exit("ok".equals(answer) ? 0 : 1);
    }

    /** Nothing if the server closed the connection without a word. */
    private static String ask(int port) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(Config.at(port), PATIENCE_MS);
            socket.setSoTimeout(PATIENCE_MS);
            return new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
        }
    }
}
