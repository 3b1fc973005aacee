package wal;

import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Ships the position of the log to another cluster, which may be away for days; then it tries ever more seldom. */
final class Replication implements Runnable {
    private static final Logger LOG = Logger.getLogger(Replication.class.getName());
    private static final long FIRST_PAUSE_MS = 50;
    private static final long LAST_PAUSE_MS = 1000;

    private final WriteAheadLog log;
    private final int sinkPort;

    Replication(WriteAheadLog log, int sinkPort) {
        this.log = log;
        this.sinkPort = sinkPort;
    }

    @Override
    public void run() {
        long pauseMs = FIRST_PAUSE_MS;
        try {
            while (true) {
                try {
                    ship();
                    pauseMs = FIRST_PAUSE_MS;
                } catch (IOException e) {
                    LOG.log(Level.WARNING, "cannot replicate to sink 1, waiting " + pauseMs + " ms", e);
                    pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS);
                }
                Thread.sleep(pauseMs);
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
    }

    private void ship() throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), sinkPort), 200);
            try (DataOutputStream out = new DataOutputStream(socket.getOutputStream())) {
                out.writeUTF("POSITION");
                out.writeLong(log.highestAppended());
            }
        }
    }
}
