package wal;

import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Reads what the peer answers on one stream and tells the log. One thread a stream, ending with it. */
final class AckReader implements Runnable {
    private static final Logger LOG = Logger.getLogger(AckReader.class.getName());

    private final LogStream stream;
    private final WriteAheadLog log;

    AckReader(LogStream stream, WriteAheadLog log) {
        this.stream = stream;
        this.log = log;
    }

    void start() {
        Thread thread = new Thread(this, "AckReader-" + stream.name());
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        try {
            while (!stream.isClosed()) {
                Ack ack = stream.readAck();
                ack.verify(stream.name());
                log.syncCompleted(stream, ack.number());
            }
        } catch (IOException e) {
            if (stream.isClosed()) {
                LOG.log(Level.INFO, "no more answers for {0}, it is closed", stream.name());
            } else {
                log.syncFailed(stream, e);
            }
        }
    }
}
