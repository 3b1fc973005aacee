package reply;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A connection to the server that all threads share: answers come in any order, and one thread reads them. */
final class Channel implements Closeable {
    private static final Logger LOG = Logger.getLogger(Channel.class.getName());
    private static final int CONNECT_MS = 1000;

    private final Socket socket = new Socket();
    private final DataOutputStream out;
    private final Map<Integer, Call> calls = new ConcurrentHashMap<>();
    private int last;
    private volatile boolean isBroken;

    Channel(int port) throws IOException {
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MS);
        socket.setTcpNoDelay(true);
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        Thread reader = new Thread(this::read, "ChannelReader");
        reader.setDaemon(true);
        reader.start();
    }

    boolean isBroken() {
        return isBroken;
    }

    /** Asks the server, and waits for its answer. */
    String call(String request) throws IOException, InterruptedException {
        Call call = send(request);
        try {
            return call.await();
        } finally {
            calls.remove(call.number());
        }
    }

    private synchronized Call send(String request) throws IOException {
        Call call = new Call(++last);
        calls.put(call.number(), call);
        if (isBroken) {
            throw new IOException("the channel is broken");
        }
        out.writeInt(call.number());
        out.writeUTF(request);
        out.flush();
        return call;
    }

    /** Whoever waits when the connection breaks is told. */
    private void read() {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()))) {
            while (true) {
                Call call = calls.get(in.readInt());
                String answer = in.readUTF();
                if (call != null) {
                    call.complete(answer);
                }
            }
        } catch (IOException e) {
            LOG.log(Level.INFO, "the channel is broken: {0}", e.toString());
            isBroken = true;
            calls.values().forEach(it -> it.fail(e));
        }
    }

    @Override
    public void close() throws IOException {
        isBroken = true;
        socket.close();
    }
}
