package faults;

import java.io.*;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.*;
import java.util.zip.*;

/** Streams in memory and outside of it; each method has one call that is asked about. */
class Streams {
    static void direct() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(new byte[1]);
    }

    static void knownAsStream() throws IOException {
        OutputStream out = new ByteArrayOutputStream();
        out.write(1);
    }

    static void file(File file) throws IOException {
        OutputStream out = new FileOutputStream(file);
        out.write(1);
    }

    static void wrappedTwice() throws IOException {
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new ByteArrayOutputStream()));
        out.writeInt(1);
    }

    static void wrappedFile(File file) throws IOException {
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(file)));
        out.writeInt(1);
    }

    static void constructorReads(byte[] bytes) throws IOException {
        new GZIPInputStream(new ByteArrayInputStream(bytes));
    }

    static void eitherWay(boolean toFile) throws IOException {
        OutputStream out = toFile ? new FileOutputStream("x") : new ByteArrayOutputStream();
        out.write(1);
    }

    static void memoryEitherWay(boolean large) throws IOException {
        OutputStream out = large ? new BufferedOutputStream(new ByteArrayOutputStream(9)) : new ByteArrayOutputStream();
        out.write(1);
    }

    static void grown(int times) throws IOException {
        OutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < times; i++) {
            out = new BufferedOutputStream(out);
        }
        out.write(1);
    }

    static void grownFile(int times) throws IOException {
        OutputStream out = new FileOutputStream("x");
        for (int i = 0; i < times; i++) {
            out = new BufferedOutputStream(out);
        }
        out.write(1);
    }

    // A field behind two calls.
    private OutputStream held;

    void hold() {
        take(new ByteArrayOutputStream());
    }

    private void take(OutputStream out) {
        keep(new BufferedOutputStream(out));
    }

    private void keep(OutputStream out) {
        held = out;
    }

    void fieldBehindCalls() throws IOException {
        held.write(1);
    }

    private OutputStream both;

    void fillBoth() throws IOException {
        both = new ByteArrayOutputStream();
    }

    void fillBothAgain() throws IOException {
        both = new FileOutputStream("x");
    }

    void fieldOfBoth() throws IOException {
        both.write(1);
    }

    private OutputStream cleared = new ByteArrayOutputStream();

    void clear() {
        cleared = null;
    }

    void fieldOrNull() throws IOException {
        cleared.write(1);
    }

    private static void mixedParameter(OutputStream out) throws IOException {
        out.write(1);
    }

    static void mixedCallers() throws IOException {
        mixedParameter(new ByteArrayOutputStream());
        mixedParameter(new FileOutputStream("x"));
    }

    private static void memoryParameter(OutputStream out) throws IOException {
        out.write(1);
    }

    static void memoryCallers() throws IOException {
        memoryParameter(new ByteArrayOutputStream());
        memoryParameter(new DataOutputStream(new ByteArrayOutputStream()));
    }

    static void noCaller(OutputStream out) throws IOException {
        out.write(1);
    }

    private static void recursive(OutputStream out, int depth) throws IOException {
        if (depth > 0) {
            recursive(new BufferedOutputStream(out), depth - 1);
        }
        out.write(1);
    }

    static void startRecursion() throws IOException {
        recursive(new ByteArrayOutputStream(), 3);
    }

    private static void recursiveFile(OutputStream out, int depth) throws IOException {
        if (depth > 0) {
            recursiveFile(out, depth - 1);
        }
        out.write(1);
    }

    static void startRecursionFile() throws IOException {
        recursiveFile(new ByteArrayOutputStream(), 3);
        recursiveFile(new FileOutputStream("x"), 3);
    }

    // One factory, asked with different arguments.
    static DataOutputStream open(OutputStream out) {
        return new DataOutputStream(out);
    }

    static void factoryMemory() throws IOException {
        DataOutputStream out = open(new ByteArrayOutputStream());
        out.writeInt(1);
    }

    static void factoryFile() throws IOException {
        DataOutputStream out = open(new FileOutputStream("x"));
        out.writeInt(1);
    }

    static OutputStream deep(OutputStream out, int depth) {
        return depth == 0 ? out : deep(new BufferedOutputStream(out), depth - 1);
    }

    static void recursiveFactoryMemory() throws IOException {
        OutputStream out = deep(new ByteArrayOutputStream(), 2);
        out.write(1);
    }

    static void recursiveFactoryFile() throws IOException {
        OutputStream out = deep(new FileOutputStream("x"), 2);
        out.write(1);
    }

    static void writer() throws IOException {
        Writer out = new BufferedWriter(new StringWriter());
        out.write("x");
    }

    static void reader() throws IOException {
        BufferedReader in = new BufferedReader(new StringReader("x"));
        in.readLine();
    }

    static void nothing() throws IOException {
        OutputStream out = OutputStream.nullOutputStream();
        out.write(1);
    }

    static void base64() throws IOException {
        OutputStream out = Base64.getEncoder().wrap(new ByteArrayOutputStream());
        out.write(1);
    }

    static void base64File() throws IOException {
        OutputStream out = Base64.getEncoder().wrap(new FileOutputStream("x"));
        out.write(1);
    }

    static void channelOnMemory(ByteBuffer buffer) throws IOException {
        WritableByteChannel channel = Channels.newChannel(new ByteArrayOutputStream());
        channel.write(buffer);
    }

    static void channel(SocketChannel channel) throws IOException {
        channel.write(ByteBuffer.allocate(1));
    }

    static void socket(Socket socket) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(1);
    }

    static void pipe() throws IOException {
        OutputStream out = new PipedOutputStream();
        out.write(1);
    }

    static void load(Properties properties) throws IOException {
        properties.load(new StringReader("a=b"));
    }

    static void loadFile(Properties properties) throws IOException {
        properties.load(new FileReader("x"));
    }

    static void copyIn() throws IOException {
        Files.copy(new ByteArrayInputStream(new byte[1]), Path.of("x"));
    }

    static void transferOut() throws IOException {
        new ByteArrayInputStream(new byte[1]).transferTo(new FileOutputStream("x"));
    }

    static void closed() throws IOException {
        Closeable it = new DataInputStream(new ByteArrayInputStream(new byte[1]));
        it.close();
    }

    // A stream of the system on a buffer.
    static class OnBuffer extends InputStream {
        private final ByteBuffer buffer;

        OnBuffer(ByteBuffer buffer) {
            this.buffer = buffer;
        }

        @Override
        public int read() {
            return buffer.get();
        }
    }

    static void ownStream(ByteBuffer buffer) throws IOException {
        DataInputStream in = new DataInputStream(new OnBuffer(buffer));
        in.readInt();
    }

    // A stream of the system that has a buffer and something else.
    static class OnConnection extends InputStream {
        private final ByteBuffer buffer = ByteBuffer.allocate(9);
        private final Socket socket;

        OnConnection(Socket socket) {
            this.socket = socket;
        }

        @Override
        public int read() {
            return buffer.get();
        }
    }

    static void ownConnection(Socket socket) throws IOException {
        InputStream in = new OnConnection(socket);
        in.read();
    }

    // An object of the system that wraps a stream, as archives do: it is told apart by who made it.
    static class Archive {
        private final DataOutput out;

        private Archive(DataOutput out) {
            this.out = out;
        }

        static Archive of(OutputStream out) {
            return new Archive(new DataOutputStream(out));
        }

        void put() throws IOException {
            out.writeInt(1);
        }

        void passOn(Externalizable it) throws IOException {
            it.writeExternal((ObjectOutput) out);
        }

        Closeable asCloseable() {
            return (Closeable) out;
        }
    }

    static void archives() throws IOException {
        Archive.of(new ByteArrayOutputStream()).put();
        Archive.of(new FileOutputStream("x")).put();
    }

    static class Buffer extends DataOutputStream {
        Buffer() {
            super(new ByteArrayOutputStream());
        }

        void fill() throws IOException {
            out.write(1);
        }
    }

    static void ownBuffer() throws IOException {
        Buffer buffer = new Buffer();
        buffer.writeInt(1);
    }

    static class Log extends DataOutputStream {
        Log(File file) throws IOException {
            super(new FileOutputStream(file));
        }

        void fillLog() throws IOException {
            out.write(1);
        }
    }

    static void ownLog(File file) throws IOException {
        Log log = new Log(file);
        log.writeInt(1);
    }

    interface Work {
        void run() throws IOException;
    }

    static Work capture() {
        OutputStream out = new ByteArrayOutputStream();
        return () -> out.write(1);
    }

    static void element(OutputStream[] all) throws IOException {
        all[0].write(1);
    }

    static void object(byte[] bytes) throws IOException, ClassNotFoundException {
        ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes));
        in.readObject();
    }
}
