package probe;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.SynchronousQueue;

/**
 * Tasks with states: each touch is one hit of one site, and prints a line: the thread, what it does, and what happened.
 * A mark behind a line names the state that begins there.
 */
public class States {
    static void hit() {
        nothing(); // site: hit
    }

    static void nothing() {}

    static void touch(String what) {
        String result = "fine";
        try {
            hit();
        } catch (Exception e) {
            result = Caught.describe(e);
        }
        System.out.println(Thread.currentThread().getName() + " " + what + ": " + result);
    }

    /** Does what a script says, letter by letter. */
    static class Worker implements Runnable {
        private final String script;
        private int at;
        private char mode;

        Worker(String script) {
            this.script = script;
        }

        @Override
        public void run() {
            touch("starts"); // site: start
            while (at < script.length()) {
                mode = script.charAt(at++); // site: next
                if (mode == 'r') {
                    touch("reads"); // site: read
                } else if (mode == 'w') {
                    touch("writes"); // site: write
                } else if (mode == 'n') {
                    new Nested().run(); // site: nest
                    touch("goes on");
                } else if (mode == 'x') {
                    try {
                        new Failing().call(); // site: fail
                    } catch (Exception e) { // site: recover
                        touch("recovers");
                    }
                } else {
                    touch("gives up"); // site: give up
                    throw new IllegalStateException("no such mode: " + mode);
                }
            }
        }
    }

    static class Nested implements Runnable {
        @Override
        public void run() {
            touch("is nested"); // site: nested
        }
    }

    static class Failing implements Callable<String> {
        @Override
        public String call() throws IOException {
            touch("fails"); // site: failing
            throw new IOException("on purpose");
        }
    }

    /** A worker that waits in mid-task until another thread comes by. */
    static class Meeting implements Runnable {
        private final SynchronousQueue<String> queue;
        private final boolean gives;
        private int rounds = 3;

        Meeting(SynchronousQueue<String> queue, boolean gives) {
            this.queue = queue;
            this.gives = gives;
        }

        @Override
        public void run() {
            touch("arrives"); // site: arrive
            try {
                while (rounds-- > 0) {
                    if (gives) {
                        touch("gives"); // site: give
                        queue.put("it");
                        touch("gave");
                    } else {
                        touch("takes"); // site: take
                        queue.take();
                        touch("took");
                    }
                }
            } catch (InterruptedException e) {
                touch("is interrupted");
            }
        }
    }

    static void inTurn(Thread thread) throws InterruptedException {
        thread.start();
        thread.join();
    }

    public static void main(String[] args) throws Exception {
        touch("begins");
        switch (args[0]) {
            case "worker":
                inTurn(new Thread(new Worker(args[1]), "worker-1"));
                break;
            case "lambda":
                inTurn(new Thread(() -> {
                    touch("prepares");
                    try {
                        new Worker(args[1]).run();
                    } catch (IllegalStateException e) {
                        touch("is left");
                    }
                    touch("clears up");
                }, "lambda-1"));
                break;
            case "virtual":
                virtualThreads();
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
        touch("ends");
    }

    /** By reflection, so that this compiles for every JDK. */
    private static void virtualThreads() throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        SynchronousQueue<String> queue = new SynchronousQueue<>();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            type.getMethod("name", String.class).invoke(builder, "virtual-" + i);
            Runnable task = new Meeting(queue, i == 0);
            threads[i] = (Thread) type.getMethod("start", Runnable.class).invoke(builder, task);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
