package faults;

import java.io.*;
import java.net.Socket;
import java.util.concurrent.*;

/** Exceptions that the system makes itself, and what libraries throw. */
class Made {
    static class Broken extends Exception {
        Broken(String text) {
            super(text);
        }

        Broken(Throwable cause) {
            super(cause);
        }
    }

    interface Store {
        void put(String it) throws Broken;
    }

    static class Plain implements Store {
        public void put(String it) {}
    }

    static class Picky implements Store {
        public void put(String it) throws Broken {
            if (it == null) {
                throw new Broken("none");
            }
        }
    }

    static Store pick(boolean picky) {
        return picky ? new Picky() : new Plain();
    }

    static void throughInterface() throws Broken {
        pick(true).put("x");
    }

    // It passes on what was caught: the fault goes in deeper.
    static void wraps(File file) throws Broken {
        try {
            new FileInputStream(file);
        } catch (IOException e) {
            throw new Broken(e);
        }
    }

    static void callsWraps(File file) throws Broken {
        wraps(file);
    }

    static void caughtInside() {
        try {
            throw new IllegalStateException("here");
        } catch (IllegalStateException e) {
            return;
        }
    }

    static void callsCaughtInside() {
        caughtInside();
    }

    static void caughtAndThrownAgain() throws IOException {
        try {
            throw new EOFException("here");
        } catch (IOException e) {
            System.out.println("again");
            throw e;
        }
    }

    static void callsThrownAgain() throws IOException {
        caughtAndThrownAgain();
    }

    static Broken make(String text) {
        return new Broken(text);
    }

    static void factory() throws Broken {
        throw make("x");
    }

    static void callsFactory() throws Broken {
        factory();
    }

    static void makesAndKeeps() {
        make("x");
    }

    Made(int size) throws IOException {
        if (size < 0) {
            throw new IOException("size");
        }
    }

    static void constructor() throws IOException {
        new Made(1);
    }

    static void onlyDeeper() throws IOException {
        constructor();
    }

    static int number(String text) {
        return Integer.parseInt(text);
    }

    static void submit(ExecutorService service, Runnable it) {
        try {
            service.submit(it);
        } catch (RejectedExecutionException e) {
            it.run();
        }
    }

    static void several(Future<String> it) throws Exception {
        it.get(1, TimeUnit.SECONDS);
    }

    static void quiet(StringBuilder text) {
        text.append("x");
    }

    static void rename(File file) {
        file.renameTo(new File("y"));
    }

    static void force(RandomAccessFile file) throws IOException {
        file.getChannel().force(true);
    }

    static void readOne(InputStream in) throws IOException {
        in.read();
    }

    static void forceTwice(RandomAccessFile file) throws IOException {
        file.getFD().sync();
        file.getFD().sync();
    }

    static void printOut(Socket socket) throws IOException {
        new PrintWriter(socket.getOutputStream()).println("x");
    }

    static String printText() {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        out.println("x");
        return text.toString();
    }

    static void create(File file) throws IOException {
        new FileOutputStream(file);
    }
}
