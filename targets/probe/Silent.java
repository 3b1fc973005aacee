package probe;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/**
 * A client that sends four numbered messages over one connection, each in a way of its own, and a server that answers each. The client says
 * which answers came, the server which messages.
 */
public class Silent {
    static final int SIZE = 8;

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[1]);
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(any)) {
            CompletableFuture<String> received = new CompletableFuture<>();
            Thread thread = new Thread(() -> received.complete(serve(server)), "server");
            thread.start();
            InetSocketAddress to = (InetSocketAddress) server.getLocalAddress();
            switch (args[0]) {
                case "stream":
                    stream(to);
                    break;
                case "channel":
                    channel(to, directory);
                    break;
                case "halves":
                    halves(to);
                    break;
                default:
                    throw new IllegalArgumentException(args[0]);
            }
            System.out.println("server: " + received.get());
        }
    }

    /** Answers every message until the other side closes, and tells how many came and how many bytes were left over. */
    static String serve(ServerSocketChannel server) {
        try (SocketChannel socket = server.accept()) {
            ByteBuffer message = ByteBuffer.allocate(SIZE);
            int count = 0;
            while (true) {
                message.clear();
                while (message.hasRemaining() && socket.read(message) >= 0) {
                }
                if (message.hasRemaining()) {
                    return count + " messages, " + message.position() + " bytes of another";
                }
                if (message.getLong(0) != count++) {
                    return "message " + message.getLong(0) + " instead of " + (count - 1);
                }
                socket.write(ByteBuffer.wrap(new byte[] {1}));
            }
        } catch (IOException e) {
            return e.toString();
        }
    }

    static byte[] message(long number) {
        return ByteBuffer.allocate(SIZE).putLong(number).array();
    }

    static String answer(InputStream in) throws IOException {
        try {
            return in.read() == 1 ? "answered" : "closed";
        } catch (SocketTimeoutException e) {
            return "silence";
        }
    }

    static void stream(InetSocketAddress to) throws Exception {
        try (Socket socket = new Socket(to.getAddress(), to.getPort())) {
            socket.setSoTimeout(200);
            OutputStream out = socket.getOutputStream();
            for (int number = 0; number < 4; number++) {
                byte[] message = message(number);
                // From another thread each time: what is silent is the connection.
                Thread sender = new Thread(() -> send(out, message), "sender " + number);
                sender.start();
                sender.join();
                System.out.println(number + ": " + answer(socket.getInputStream()));
            }
        }
    }

    static void halves(InetSocketAddress to) throws Exception {
        try (Socket socket = new Socket(to.getAddress(), to.getPort())) {
            socket.setSoTimeout(200);
            OutputStream out = socket.getOutputStream();
            for (int number = 0; number < 2; number++) {
                out.write(message(number), 0, 4);
                out.write(message(number), 4, 4);
            }
            System.out.println(answer(socket.getInputStream()));
        }
    }

    static void send(OutputStream out, byte[] message) {
        try {
            out.write(message);
        } catch (IOException e) {
            System.out.println(e);
        }
    }

    static void channel(InetSocketAddress to, Path directory) throws Exception {
        Path file = Files.write(directory.resolve("message"), message(3));
        try (SocketChannel socket = SocketChannel.open(to); FileChannel third = FileChannel.open(file)) {
            socket.socket().setSoTimeout(200);
            InputStream in = socket.socket().getInputStream();
            System.out.println("sent " + socket.write(ByteBuffer.wrap(message(0))) + ": " + answer(in));
            ByteBuffer[] halves = {ByteBuffer.wrap(message(1), 0, 4), ByteBuffer.wrap(message(1), 4, 4)};
            System.out.println("sent " + socket.write(halves) + ": " + answer(in));
            socket.socket().getOutputStream().write(message(2));
            System.out.println("wrote: " + answer(in));
            System.out.println("sent " + third.transferTo(0, SIZE, socket) + ": " + answer(in));
        }
    }
}
