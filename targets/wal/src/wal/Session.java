package wal;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * One client. Its handler thread takes requests and appends puts to the log without waiting, so that a client may send
 * many; its responder thread answers them in order, a put when its edit is safe.
 */
final class Session {
    private static final Logger LOG = Logger.getLogger(Session.class.getName());
    private static final int MAX_PENDING = 2048;

    /** Gives the answer to one request. */
    private interface Reply {
        String await() throws IOException, InterruptedException;
    }

    private final Server server;
    private final Socket socket;
    private final int number;
    private final BlockingQueue<Reply> pending = new ArrayBlockingQueue<>(MAX_PENDING);

    Session(Server server, Socket socket, int number) {
        this.server = server;
        this.socket = socket;
        this.number = number;
    }

    void start() throws IOException {
        socket.setTcpNoDelay(true);
        Thread responder = new Thread(this::respond, "Responder-" + number);
        responder.setDaemon(true);
        responder.start();
        Thread handler = new Thread(() -> handle(responder), "Handler-" + number);
        handler.setDaemon(true);
        handler.start();
    }

    private void handle(Thread responder) {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()))) {
            while (true) {
                pending.put(request(in));
            }
        } catch (EOFException e) {
            LOG.log(Level.INFO, "client of session {0} has gone", number);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "session " + number + " lost", e);
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
        responder.interrupt();
    }

    private Reply request(DataInputStream in) throws IOException {
        String operation = in.readUTF();
        switch (operation) {
            case "PUT": {
                String key = in.readUTF();
                String value = in.readUTF();
                SyncFuture future = server.log.append(key, value);
                return () -> {
                    future.get(server.settings.syncTimeoutMs());
                    server.apply(key, value);
                    return "OK";
                };
            }
            case "GET": {
                String key = in.readUTF();
                return () -> {
                    String value = server.region.get(key);
                    return value == null ? "NONE" : "OK " + value;
                };
            }
            case "ROLL":
                return () -> {
                    server.roller.requestAndWait(server.settings.syncTimeoutMs());
                    return "OK";
                };
            case "POSITION":
                return () -> "OK " + server.log.highestAppended();
            default:
                throw new IOException("unknown operation " + operation);
        }
    }

    private void respond() {
        try (DataOutputStream out = new DataOutputStream(socket.getOutputStream())) {
            while (true) {
                String answer;
                try {
                    answer = pending.take().await();
                } catch (IOException e) {
                    LOG.log(Level.WARNING, "request of session " + number + " failed", e);
                    answer = "ERROR " + e.getMessage();
                }
                out.writeUTF(answer);
                out.flush();
            }
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot answer session " + number, e);
        } catch (InterruptedException e) {
            LOG.log(Level.INFO, "session {0} ended", number);
        }
    }
}
