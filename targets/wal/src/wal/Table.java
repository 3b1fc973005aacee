package wal;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The client's view of the server: calls that are tried again on a new connection, for puts may be repeated. */
final class Table implements Closeable {
    private static final Logger LOG = Logger.getLogger(Table.class.getName());
    private static final int ATTEMPTS = 4;
    private static final long PAUSE_MS = 50;

    private interface Call<T> {
        T on(Connection connection) throws IOException;
    }

    private final int port;
    private Connection connection;

    Table(int port) {
        this.port = port;
    }

    void put(String key, String value) throws IOException, InterruptedException {
        retry("put " + key, server -> server.call("PUT", key, value));
    }

    String get(String key) throws IOException, InterruptedException {
        String answer = retry("get " + key, server -> server.call("GET", key));
        return answer.startsWith("OK ") ? answer.substring(3) : null;
    }

    /** Sends many puts while a backup is made, and only then waits for the answers. */
    void putAll(List<String> keys, String value, Backup backup) throws IOException, InterruptedException {
        retry("bulk of " + keys.size(), server -> {
            try (backup) {
                backup.begin();
                for (String key : keys) {
                    server.send("PUT", key, value);
                }
                backup.copy(keys.size());
            }
            for (int i = 0; i < keys.size(); i++) {
                server.answer();
            }
            return null;
        });
    }

    private <T> T retry(String what, Call<T> call) throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                if (connection == null) {
                    connection = new Connection(port);
                }
                return call.on(connection);
            } catch (IOException e) {
                LOG.log(Level.WARNING, what + " failed, attempt " + attempt, e);
                reset();
                if (attempt == ATTEMPTS) {
                    throw e;
                }
                Thread.sleep(PAUSE_MS);
            }
        }
    }

    private void reset() {
        try {
            close();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot close a connection, leaving it", e);
        }
        connection = null;
    }

    @Override
    public void close() throws IOException {
        if (connection != null) {
            connection.close();
        }
    }
}
