package wal;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Tells the peer that the server lives, on a connection that is opened again whenever it was lost. */
final class Heartbeat implements Runnable {
    private static final Logger LOG = Logger.getLogger(Heartbeat.class.getName());
    private static final int BEATS_PER_CONNECTION = 40;

    private final int peerPort;
    private final long periodMs;
    private long beats;

    Heartbeat(int peerPort, long periodMs) {
        this.peerPort = peerPort;
        this.periodMs = periodMs;
    }

    @Override
    public void run() {
        try {
            while (true) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), peerPort);
                        DataInputStream in = new DataInputStream(socket.getInputStream());
                        DataOutputStream out = new DataOutputStream(socket.getOutputStream())) {
                    for (int i = 0; i < BEATS_PER_CONNECTION; i++) {
                        beat(in, out);
                        Thread.sleep(periodMs);
                    }
                } catch (IOException e) {
                    LOG.log(Level.WARNING, "heartbeat " + beats + " lost, connecting again", e);
                    Thread.sleep(periodMs);
                }
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
    }

    private void beat(DataInputStream in, DataOutputStream out) throws IOException {
        out.writeUTF("BEAT");
        out.writeLong(++beats);
        out.flush();
        String answer = in.readUTF();
        if (!answer.equals("ALIVE")) {
            LOG.log(Level.WARNING, "peer answers heartbeat {0} with {1}, it may be slow", new Object[] {beats, answer});
        }
    }
}
