package probe;

import java.util.ArrayList;
import java.util.List;

/**
 * One site, reached by several threads and in several ways, one after the other. Each hit prints a line: the
 * thread, the way, and what happened.
 */
public class Guards {
    static void hit() {
        nothing(); // site: hit
    }

    static void nothing() {}

    static void left() {
        attempt("left"); // site: left
    }

    static void right() {
        attempt("right");
    }

    static void attempt(String way) {
        String result = "fine";
        try {
            hit(); // site: attempt
        } catch (Exception e) {
            result = Caught.describe(e);
        }
        System.out.println(Thread.currentThread().getName() + " " + way + ": " + result);
    }

    static void inTurn(Thread thread) throws InterruptedException {
        thread.start();
        thread.join();
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "threads":
                for (String name : new String[] {"a-1", "b-1", "a-2", "b-2"}) {
                    inTurn(new Thread(() -> { left(); right(); }, name));
                }
                break;
            case "rename":
                inTurn(new Thread(() -> {
                    left();
                    Thread.currentThread().setName("busy-1");
                    left();
                    Thread.currentThread().setName("idle-1");
                    left();
                }, "idle-1"));
                break;
            case "virtual":
                virtualThreads();
                break;
            case "many":
                for (int i = 1; i <= Integer.parseInt(args[1]); i++) {
                    attempt(String.valueOf(i));
                }
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }

    /** By reflection, so that this compiles for every JDK. They run on the same carriers, one after the other. */
    private static void virtualThreads() throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        List<String> names = new ArrayList<>(List.of("virtual-1", "virtual-2", "virtual-3"));
        for (String name : names) {
            type.getMethod("name", String.class).invoke(builder, name);
            Thread thread = (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, (Runnable) Guards::left);
            inTurn(thread);
        }
    }
}
