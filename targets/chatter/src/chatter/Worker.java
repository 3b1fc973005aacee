package chatter;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A process that renders the pages of topics, as the board orders. */
public final class Worker {
    private static final Logger LOG = Logger.getLogger(Worker.class.getName());
    private static final int ANSWER_MS = 2000;
    private static final long RETRY_MS = 100;

    private final String name;
    private final Pages pages;
    private final Diary diary;
    private final InetSocketAddress board;

    private Worker(String name, Path data, InetSocketAddress board) throws IOException {
        this.name = name;
        this.pages = new Pages(data.resolve("board"));
        this.diary = new Diary(data.resolve(name));
        this.board = board;
    }

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        Options options = new Options(args);
        try {
            int port = options.number("board", 7700);
            InetSocketAddress board = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
            new Worker(options.text("name"), Path.of(options.text("data")), board).work();
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    private void work() throws InterruptedException {
        while (true) {
            try (Socket socket = new Socket()) {
                socket.connect(board, ANSWER_MS);
                socket.setSoTimeout(ANSWER_MS);
                socket.setTcpNoDelay(true);
                serve(new DataInputStream(new BufferedInputStream(socket.getInputStream())),
                        new DataOutputStream(new BufferedOutputStream(socket.getOutputStream())));
            } catch (IOException e) {
                LOG.log(Level.INFO, "no board: {0}", e.toString());
            }
            Thread.sleep(RETRY_MS);
        }
    }

    private void serve(DataInputStream in, DataOutputStream out) throws IOException {
        out.writeUTF(name);
        out.flush();
        LOG.log(Level.INFO, "{0} is at work", name);
        while (true) {
            int topic = in.readInt();
            Set<String> lines = new TreeSet<>();
            for (int left = in.readInt(); left > 0; left--) {
                lines.add(in.readUTF());
            }
            if (topic >= 0) {
                pages.write(topic, String.join("\n", lines) + "\n");
                diary.note("topic " + topic + ", " + lines.size() + " posts");
            }
            out.writeInt(topic);
            out.flush();
        }
    }
}
