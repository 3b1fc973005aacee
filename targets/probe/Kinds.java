package probe;

import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * One method for each kind of site. `Kinds METHOD ROUNDS` calls a method again and again, and prints a line a round:
 * what it returned or threw (and where), and how many steps of its work were done in that round.
 */
public class Kinds {
    private static final Logger LOG = Logger.getLogger("kinds");
    /** The work that was really done in this round. */
    private static int steps;

    static int work(int n) {
        steps++;
        return n + 1;
    }

    static int call(int n) {
        return work(n); // site: call
    }

    static int entry(int n) {
        steps++; // site: entry
        return n;
    }

    static int exit(int n) {
        steps++;
        return n; // site: exit
    }

    static int unwind(int n) {
        steps++;
        throw new IllegalStateException("its own"); // site: unwind
    }

    static int block(int n) {
        if (n > 0) {
            steps++; // site: block
        }
        return n;
    }

    static int loop(int n) {
        int sum = 0;
        for (int i = 0; i < 3; i++) { // site: loop
            sum += work(i);
        }
        return sum; // site: loop exit
    }

    static int handler(int n) {
        try {
            throw new IllegalStateException("its own");
        } catch (IllegalStateException expected) { // site: handler
            steps++;
        }
        return n;
    }

    static boolean isEven(int n) {
        return n % 2 == 0; // site: return
    }

    static int log(int n) {
        LOG.info("round " + n); // site: log
        return n;
    }

    private static Object call(String method, int n) {
        switch (method) {
            case "call": return call(n);
            case "entry": return entry(n);
            case "exit": return exit(n);
            case "unwind": return unwind(n);
            case "block": return block(n);
            case "loop": return loop(n);
            case "handler": return handler(n);
            case "isEven": return isEven(n);
            case "log": return log(n);
            default: throw new IllegalArgumentException(method);
        }
    }

    public static void main(String[] args) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("bye")));
        LOG.setUseParentHandlers(false);
        LOG.addHandler(new Handler() {
            @Override public void publish(LogRecord record) { steps++; }
            @Override public void flush() {}
            @Override public void close() {}
        });
        for (int round = 1; round <= Integer.parseInt(args[1]); round++) {
            steps = 0;
            String result;
            try {
                result = String.valueOf(call(args[0], round));
            } catch (Exception e) {
                result = Caught.describe(e);
            }
            System.out.println("round " + round + ": " + result + ", steps " + steps);
        }
    }
}
