package probe;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.FileWriter;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.FileAlreadyExistsException;

/** Works on files and connections by each interface that the JDK has, in the directory of its first argument. */
public class Operations {
    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        switch (args[1]) {
            case "streams":
                streams(directory);
                break;
            case "channels":
                channels(directory);
                break;
            case "files":
                files(directory.toFile());
                break;
            case "paths":
                paths(directory);
                break;
            case "sockets":
                sockets();
                break;
            case "socket-channels":
                socketChannels();
                break;
            case "epoch":
                epoch(directory);
                break;
            default:
                throw new IllegalArgumentException(args[1]);
        }
        System.out.println("done");
    }

    static void streams(Path directory) throws IOException {
        File file = directory.resolve("a").toFile();
        try (FileOutputStream out = new FileOutputStream(file)) {
            out.write(1);
            out.write(new byte[2]);
            out.write(new byte[4], 1, 2);
        }
        try (FileWriter writer = new FileWriter(file, true)) {
            writer.write("text");
        }
        try (FileInputStream in = new FileInputStream(file)) {
            in.read();
            in.read(new byte[2]);
            in.read(new byte[4], 1, 2);
        }
        try (RandomAccessFile random = new RandomAccessFile(file, "rw")) {
            random.readByte();
            random.writeInt(4);
        }
        try (FileInputStream in = new FileInputStream(directory.resolve("absent").toFile())) {
            throw new AssertionError();
        } catch (IOException expected) {
        }
        // Not below the directory of the trial.
        File elsewhere = File.createTempFile("probe", null);
        try (FileOutputStream out = new FileOutputStream(elsewhere)) {
            out.write(1);
        }
        elsewhere.delete();
    }

    static void channels(Path directory) throws IOException {
        Path file = directory.resolve("c");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(8));
            channel.write(new ByteBuffer[] {ByteBuffer.allocate(4), ByteBuffer.allocateDirect(4)});
            channel.force(true);
            channel.truncate(8);
        }
        try (FileChannel channel = FileChannel.open(file)) {
            channel.read(ByteBuffer.allocate(8), 0);
            channel.map(FileChannel.MapMode.READ_ONLY, 0, 8);
        }
        // A descriptor follows its file to a new name.
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.APPEND)) {
            Files.move(file, directory.resolve("d"));
            channel.write(ByteBuffer.allocate(1));
        }
    }

    static void files(File directory) throws IOException {
        new File(directory, "sub0").mkdir();
        File file = new File(directory, "./sub0/../g");
        file.createNewFile();
        file.createNewFile();
        file.exists();
        file.length();
        file.renameTo(new File(directory, "h"));
        new File(directory, "sub").mkdir();
        directory.list();
        directory.listFiles();
        new File(directory, "h").delete();
    }

    static void paths(Path directory) throws IOException {
        Path file = directory.resolve("p");
        Files.writeString(file, "one");
        Files.exists(file);
        Files.readString(file);
        Files.move(file, directory.resolve("q"), StandardCopyOption.ATOMIC_MOVE);
        Files.createFile(file);
        try {
            Files.createFile(file);
            throw new AssertionError();
        } catch (FileAlreadyExistsException expected) {
        }
        Files.createDirectory(directory.resolve("dir"));
        Files.list(directory).close();
        Files.delete(file);
    }

    static void sockets() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread client = new Thread(() -> {
                try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
                    socket.getOutputStream().write(new byte[10]);
                    socket.getInputStream().readNBytes(20);
                } catch (IOException e) {
                    e.printStackTrace();
                }
            }, "client");
            client.start();
            try (Socket socket = server.accept()) {
                socket.getInputStream().readNBytes(10);
                socket.getOutputStream().write(new byte[20]);
            }
            client.join();
        }
    }

    static void socketChannels() throws Exception {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(any)) {
            Thread client = new Thread(() -> {
                try (SocketChannel socket = SocketChannel.open(server.getLocalAddress())) {
                    socket.write(new ByteBuffer[] {ByteBuffer.allocate(4), ByteBuffer.allocate(6)});
                } catch (IOException e) {
                    e.printStackTrace();
                }
            }, "client");
            client.start();
            try (SocketChannel socket = server.accept()) {
                ByteBuffer buffer = ByteBuffer.allocate(10);
                while (buffer.hasRemaining()) {
                    socket.read(buffer);
                }
            }
            client.join();
        }
    }

    /** Writes a file by way of another and a renaming, twice. */
    static void epoch(Path directory) throws IOException {
        for (int round = 1; round <= 2; round++) {
            Path part = directory.resolve("epoch.tmp");
            try {
                Files.writeString(part, "" + round);
                Files.move(part, directory.resolve("epoch"), StandardCopyOption.ATOMIC_MOVE);
                System.out.println("round " + round + ": fine");
            } catch (IOException e) {
                System.out.println("round " + round + ": " + e.getMessage());
            }
        }
    }
}
