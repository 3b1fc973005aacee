package quorum;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** One connection of a client: reads are answered from the tree of this server, changes go through the leader. */
final class ClientHandler extends Thread {
    enum State { CONNECTING, CONNECTED, CLOSED }

    private static final Logger LOG = Logger.getLogger(ClientHandler.class.getName());
    private static final int SLOW_MS = 20;

    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;
    private final QuorumPeer peer;
    private final Store store;
    private final Requests requests;
    private volatile State state = State.CONNECTING;
    private long session;
    private int served;

    ClientHandler(Socket socket, QuorumPeer peer, Store store, Requests requests, int number) throws IOException {
        super("ClientHandler-" + number);
        setDaemon(true);
        this.socket = socket;
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        this.out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        this.peer = peer;
        this.store = store;
        this.requests = requests;
    }

    @Override
    public void run() {
        try (socket) {
            connect(Message.readFrom(in));
            while (state == State.CONNECTED) {
                Message request = Message.readFrom(in);
                reply(request).writeTo(out);
                served++;
            }
        } catch (EOFException e) {
            LOG.log(Level.WARNING, "end of stream: cannot read more from session " + session + ", served " + served, e);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "closing session " + session + " after an exception, served " + served, e);
        } catch (InterruptedException e) {
            LOG.info("interrupted, closing session " + session);
        } finally {
            state = State.CLOSED;
        }
    }

    private void connect(Message message) throws IOException {
        if (message.type() != Message.Type.CONNECT) {
            throw new IOException("a client must begin with CONNECT, not " + message.type());
        }
        session = message.number();
        if (session == 0) {
            session = System.nanoTime() | 1;
        } else {
            LOG.warning("session " + session + " is not known here, renewing it");
        }
        LOG.info("established session " + session + " for " + socket.getRemoteSocketAddress());
        state = State.CONNECTED;
        Message.of(Message.Type.CONNECT, session).writeTo(out);
    }

    private Message reply(Message request) throws IOException, InterruptedException {
        Txn asked = Txn.fromBytes(request.body());
        if (request.type() == Message.Type.GET) {
            DataNode node = store.tree().find(asked.path());
            return node == null
                    ? Message.of(Message.Type.REPLY, DataTree.Result.NO_NODE.ordinal())
                    : new Message(Message.Type.REPLY, DataTree.Result.OK.ordinal(), node.data());
        }
        return Message.of(Message.Type.REPLY, change(asked).ordinal());
    }

    private DataTree.Result change(Txn asked) throws InterruptedException {
        long start = System.nanoTime();
        long request = requests.open();
        try {
            peer.submit(new Txn(0, peer.config().id, request, asked.create(), asked.path(), asked.data()));
            return requests.outcome(request).get(Config.REQUEST_MS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            LOG.warning("request for " + asked.path() + " took longer than " + Config.REQUEST_MS + " ms");
            return DataTree.Result.RETRY;
        } catch (ExecutionException | IOException e) {
            LOG.log(Level.WARNING, "cannot submit a request for " + asked.path(), e);
            return DataTree.Result.RETRY;
        } finally {
            requests.close(request);
            long elapsed = (System.nanoTime() - start) / 1_000_000;
            if (elapsed > SLOW_MS) {
                LOG.warning("slow request for " + asked.path() + ": " + elapsed + " ms");
            }
        }
    }
}
