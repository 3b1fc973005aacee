package quorum;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The leader's side of one follower: brings it up to date, then takes its acks and requests. */
final class LearnerHandler extends Thread {
    enum State { JOINING, SYNCING, BROADCAST, CLOSED }

    private static final Logger LOG = Logger.getLogger(LearnerHandler.class.getName());

    private final Socket socket;
    private final Leader leader;
    private final PacketSender sender;
    private volatile State state = State.JOINING;
    private volatile int id;
    private volatile long heard = System.nanoTime();
    private volatile long acked;

    LearnerHandler(Socket socket, Leader leader, int number) throws IOException {
        super("LearnerHandler-" + number);
        setDaemon(true);
        this.socket = socket;
        this.leader = leader;
        this.sender = new PacketSender(socket);
    }

    int id() {
        return id;
    }

    String statistics() {
        return "follower " + id + ": " + acked + " acks, " + sender.size() + " messages to send";
    }

    boolean inTouch() {
        return state == State.BROADCAST && System.nanoTime() - heard < Config.SILENCE_MS * 1_000_000L;
    }

    void send(Message message) {
        sender.add(message);
    }

    void close() {
        state = State.CLOSED;
        leader.remove(this);
        sender.close();
    }

    @Override
    public void run() {
        try {
            socket.setSoTimeout(Config.SILENCE_MS);
            DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            synchronise(Message.readFrom(in));
            while (state == State.BROADCAST) {
                handle(Message.readFrom(in));
            }
        } catch (IOException e) {
            if (state != State.CLOSED) {
                LOG.log(Level.WARNING, "connection to follower " + id + " lost in " + state + ", acked " + acked, e);
            }
        } finally {
            close();
        }
    }

    private void synchronise(Message join) throws IOException {
        if (join.type() != Message.Type.JOIN) {
            throw new IOException("a follower must begin with JOIN, not " + join.type());
        }
        id = (int) join.number();
        state = State.SYNCING;
        DataTree tree = leader.store().tree();
        long seen = tree.zxid();
        LOG.info(String.format("sending follower %d a snapshot as of 0x%x", id, seen));
        tree.serialize(new RecordOutput(socket.getOutputStream()));
        heard = System.nanoTime();
        state = State.BROADCAST;
        leader.add(this, seen);
        sender.start("LearnerSender-" + id);
    }

    private void handle(Message message) throws IOException {
        heard = System.nanoTime();
        switch (message.type()) {
            case PONG -> {}
            case ACK -> {
                acked = acked + 1;
                leader.ack(message.number(), id);
            }
            case REQUEST -> leader.submit(Txn.fromBytes(message.body()));
            default -> throw new IOException("a follower does not send " + message.type());
        }
    }
}
