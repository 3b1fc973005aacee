package probe;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Servers that answer each byte, and a client of two of them, whose way to the first may be cut when it calls {@code part}. */
public class Parted {
    static final int SHORT_MS = 200;

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[1]);
        switch (args[0]) {
            case "server":
                serve(directory, args[2]);
                break;
            case "client":
                visit(directory, args.length > 2);
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }

    static void serve(Path directory, String name) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Path part = Files.writeString(directory.resolve(name + ".part"), "" + server.getLocalPort());
            Files.move(part, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
            while (true) {
                Socket socket = server.accept();
                new Thread(() -> answer(socket)).start();
            }
        }
    }

    static void answer(Socket socket) {
        try (socket) {
            for (int it = socket.getInputStream().read(); it >= 0; it = socket.getInputStream().read()) {
                socket.getOutputStream().write(it);
            }
        } catch (IOException e) {
            // The other side is gone.
        }
    }

    static InetSocketAddress address(Path directory, String name) throws Exception {
        while (!Files.exists(directory.resolve(name))) {
            Thread.sleep(10);
        }
        int port = Integer.parseInt(Files.readString(directory.resolve(name)));
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    static void visit(Path directory, boolean heals) throws Exception {
        InetSocketAddress toFirst = address(directory, "a");
        InetSocketAddress toSecond = address(directory, "c");
        try (Socket first = new Socket(); Socket second = new Socket()) {
            first.connect(toFirst);
            second.connect(toSecond);
            first.setSoTimeout(SHORT_MS);
            System.out.println("before: " + exchange(first) + ", " + exchange(second));
            part();
            System.out.println("during: " + exchange(first) + ", " + exchange(second));
            if (heals) {
                first.setSoTimeout(0);
                System.out.println("after: " + read(first));
                System.out.println("connect: " + connect(toFirst, 0));
                return;
            }
            System.out.println("connect: " + connect(toFirst, SHORT_MS) + ", " + connect(toSecond, 0));
            System.out.println("channel: " + connectChannel(toFirst, SHORT_MS) + ", " + connectChannel(toSecond, 0));
        }
    }

    static void part() {
    }

    static String exchange(Socket socket) throws IOException {
        socket.getOutputStream().write(1);
        return read(socket);
    }

    static String read(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() == 1 ? "answered" : "closed";
        } catch (SocketTimeoutException e) {
            return "silence";
        }
    }

    static String connect(InetSocketAddress to, int timeout) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(to, timeout);
            return exchange(socket);
        } catch (SocketTimeoutException e) {
            return "silence";
        }
    }

    static String connectChannel(InetSocketAddress to, int timeout) throws IOException {
        try (Selector selector = Selector.open(); SocketChannel channel = SocketChannel.open()) {
            channel.configureBlocking(false);
            channel.connect(to);
            channel.register(selector, SelectionKey.OP_CONNECT);
            return selector.select(timeout) == 1 && channel.finishConnect() ? "connected" : "silence";
        }
    }
}
