package quorum;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Creates keys at one server, changes them and reads them back. A request that fails is tried again on a new
 * connection; one that is not answered in time at all ends the client with 1.
 */
public final class Client {
    private static final Logger LOG = Logger.getLogger(Client.class.getName());
    private static final String PARENT = "/app";
    private static final long PATIENCE_MS = 5_000;
    /** On a machine under load all the time may go by in one attempt; that says nothing about the server. */
    private static final int ATTEMPTS = 4;
    private static final int AGAIN_MS = 100;
    private static final int THINK_MS = 15;

    private final String name;
    private final int server;
    private final int steps;
    private Session session;
    private long lastSession;
    private int retries;

    private Client(String name, int server, int steps) {
        this.name = name;
        this.server = server;
        this.steps = steps;
    }

    public static void main(String[] args) throws InterruptedException {
        if (args.length != 3) {
            System.err.println("say NAME SERVER STEPS, as in: quorum.Client c1 1 20");
            System.exit(2);
        }
        Client client = new Client(args[0], Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        try {
            client.work();
            System.out.println(client.name + " done, retries " + client.retries);
        } catch (IOException e) {
            System.out.println(client.name + " failed: " + e.getMessage());
            System.exit(1);
        }
    }

    private void work() throws IOException, InterruptedException {
        change(Message.Type.CREATE, PARENT, "");
        for (int step = 1; step <= steps; step++) {
            String path = PARENT + "/" + name + "-" + step;
            change(Message.Type.CREATE, path, "first " + step);
            change(Message.Type.SET, path, "second " + step);
            Message read = request(Message.Type.GET, path, new byte[0]);
            if (!Arrays.equals(read.body(), bytes("second " + step))) {
                throw new IOException("read of " + path + " gave '" + new String(read.body()) + "'");
            }
            System.out.println("progress " + step);
            Thread.sleep(THINK_MS);
        }
        session.close();
    }

    /** A key that is there already is right: another client was first, or the answer to our first try was lost. */
    private void change(Message.Type type, String path, String value) throws IOException, InterruptedException {
        DataTree.Result result = result(request(type, path, bytes(value)));
        if (result == DataTree.Result.NO_NODE) {
            throw new IOException(type + " " + path + ": " + result);
        }
    }

    private Message request(Message.Type type, String path, byte[] data) throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE_MS * 1_000_000;
        for (int attempt = 1; attempt <= ATTEMPTS || System.nanoTime() < end; attempt++) {
            try {
                Message reply = session().ask(type, path, data);
                if (result(reply) != DataTree.Result.RETRY) {
                    return reply;
                }
            } catch (IOException e) {
                LOG.log(Level.INFO, name + ": " + type + " " + path + " failed, trying again", e);
                drop();
            }
            retries++;
            Thread.sleep(AGAIN_MS);
        }
        throw new IOException("no answer to " + type + " " + path + " within " + PATIENCE_MS + " ms");
    }

    private Session session() throws IOException {
        if (session == null) {
            session = new Session(server, lastSession);
            lastSession = session.number();
        }
        return session;
    }

    private void drop() throws IOException {
        if (session != null) {
            session.close();
            session = null;
        }
    }

    private static DataTree.Result result(Message reply) throws IOException {
        if (reply.number() < 0 || reply.number() >= DataTree.Result.values().length) {
            throw new IOException("bad reply " + reply.number());
        }
        return DataTree.Result.values()[(int) reply.number()];
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
