package journal;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.Socket;

/** Sends its records one after the other, counts those that were acknowledged, and gives up after three refusals. */
final class Client implements Runnable {
    private static final int REFUSALS = 3;

    private final String name;
    private final int port;
    private final int records;
    private int acknowledged;

    Client(String name, int port, int records) {
        this.name = name;
        this.port = port;
        this.records = records;
    }

    /** To be read when the client's thread has ended. */
    int acknowledged() {
        return acknowledged;
    }

    @Override
    public void run() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
                PrintWriter out = new PrintWriter(socket.getOutputStream(), true)) {
            int refused = 0;
            for (int i = 0; i < records && refused < REFUSALS; i++) {
                out.println(name + " " + i);
                if ("ok".equals(in.readLine())) {
                    acknowledged++;
                } else {
                    refused++;
                }
            }
        } catch (IOException e) {
            System.err.println(name + ": " + e);
        }
    }
}
