package chatter;

import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The workload: posts, and looks at all pages in the end. Exit status 0 only if every post was shown in time. */
public final class Client {
    private static final Logger LOG = Logger.getLogger(Client.class.getName());
    private static final int POSTS = 60;
    private static final int POSTS_PER_STEP = 10;
    private static final int TOPICS = 5;
    private static final long PACE_MS = 40;
    private static final long POLL_MS = 50;
    private static final long LIMIT_MS = 20_000;

    private Client() {}

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        try (Connection board = new Connection(new Options(args).number("board", 7701))) {
            for (int i = 0; i < POSTS; i++) {
                String line = post(i).line();
                eventually("post " + line, () -> board.call("POST", line).equals("OK"));
                if ((i + 1) % POSTS_PER_STEP == 0) {
                    System.out.println("progress " + (i + 1) / POSTS_PER_STEP);
                }
                Thread.sleep(PACE_MS);
            }
            for (int i = 0; i < POSTS; i++) {
                Post post = post(i);
                String topic = Integer.toString(post.topic());
                eventually("see " + post.line(), () -> board.call("SHOW", topic).lines().anyMatch(post.line()::equals));
            }
            LOG.info("all posts are shown");
            System.out.println("progress " + (POSTS / POSTS_PER_STEP + 1));
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "giving up", e);
            System.exit(1);
        }
    }

    private static Post post(int number) {
        return new Post(number, number % TOPICS, "said for the time " + number / TOPICS);
    }

    private interface Attempt {
        boolean succeeds() throws IOException;
    }

    private static void eventually(String what, Attempt attempt) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + LIMIT_MS * 1_000_000;
        while (true) {
            String why = "another answer";
            try {
                if (attempt.succeeds()) {
                    return;
                }
            } catch (IOException e) {
                why = e.toString();
            }
            if (System.nanoTime() > deadline) {
                throw new IOException("cannot " + what + " in " + LIMIT_MS + " ms: " + why);
            }
            Thread.sleep(POLL_MS);
        }
    }
}
