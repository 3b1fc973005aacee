package chatter;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The server that takes posts, has workers render them, and shows the pages. */
public final class Board {
    private static final Logger LOG = Logger.getLogger(Board.class.getName());
    private static final long PING_MS = 300;
    private static final int ANSWER_MS = 2000;

    private final Journal journal;
    private final Pages pages;
    private final Topics topics = new Topics();

    private Board(Path data) throws IOException {
        this.journal = new Journal(Files.createDirectories(data));
        this.pages = new Pages(data);
        journal.posts().forEach(topics::add);
        LOG.log(Level.INFO, "{0} posts are in the journal", journal.posts().size());
    }

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        Options options = new Options(args);
        try {
            Board board = new Board(Path.of(options.text("data")));
            new Acceptor("WorkerAcceptor", options.number("workers", 7700), board::employ).start();
            board.topics.awaitFirst();
            new Acceptor("ClientAcceptor", options.number("clients", 7701), board::serve).start();
            LOG.info("the board is open");
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    /** A worker: gets a topic at a time, and a ping where there is none. One that does not answer in time is left. */
    private void employ(Socket socket) throws IOException {
        socket.setSoTimeout(ANSWER_MS);
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        String name = in.readUTF();
        LOG.log(Level.INFO, "{0} works for the board", name);
        topics.come();
        try {
            while (true) {
                order(topics.take(PING_MS), in, out);
            }
        } catch (InterruptedException e) {
            throw new IOException("interrupted", e);
        } finally {
            topics.go();
            LOG.log(Level.INFO, "{0} is gone", name);
        }
    }

    private void order(int topic, DataInputStream in, DataOutputStream out) throws IOException {
        boolean rendered = false;
        try {
            out.writeInt(topic);
            List<Post> posts = topics.of(topic);
            out.writeInt(posts.size());
            for (Post post : posts) {
                out.writeUTF(post.line());
            }
            out.flush();
            rendered = in.readInt() == topic;
        } finally {
            if (topic >= 0) {
                topics.end(topic, rendered);
            }
        }
    }

    private void serve(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        while (true) {
            String request;
            try {
                request = in.readUTF();
            } catch (EOFException e) {
                return;
            }
            String answer = switch (request) {
                case "POST" -> post(Post.parse(in.readUTF()));
                case "SHOW" -> show(Integer.parseInt(in.readUTF()));
                default -> throw new IOException("unknown request " + request);
            };
            out.writeUTF(answer);
            out.flush();
        }
    }

    private String post(Post post) throws IOException {
        // Appended twice, it is the same post: the client had no answer the first time.
        journal.append(post);
        topics.add(post);
        return "OK";
    }

    /** The page of a topic; one that lacks a post is rendered again. */
    private String show(int topic) throws IOException {
        String page = pages.read(topic);
        if (page.lines().count() < topics.of(topic).size()) {
            topics.invalidate(topic);
        }
        return page;
    }
}
