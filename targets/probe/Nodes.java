package probe;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Three nodes in one JVM. Two threads of each reach one site as often as they can, all nodes at once. The threads of a
 * node take turns, so that the program itself knows which hit of its node a fault happens at.
 */
public class Nodes {
    static final String[] NAMES = {"zk1", "zk2", "zk3"};

    static void hit() {
        nothing(); // site: hit
    }

    static void nothing() {}

    static class Node {
        final String name;
        final AtomicInteger hits = new AtomicInteger();

        Node(String name) {
            this.name = name;
        }

        synchronized void reach() {
            int number = hits.incrementAndGet();
            try {
                hit();
            } catch (IllegalStateException e) {
                System.out.println(name + " " + number + " " + Thread.currentThread().getName());
            }
        }
    }

    /** By reflection, because the program also runs without the class. */
    static void carry(String node) {
        try {
            Class<?> mdc = Class.forName("org.slf4j.MDC");
            mdc.getMethod("put", String.class, String.class).invoke(null, "node", node);
        } catch (ClassNotFoundException e) {
            // Then the threads carry nothing.
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** `names COUNT`: threads are named after their node; `carried COUNT`: they carry its name for their logs. */
    public static void main(String[] args) throws Exception {
        boolean named = args[0].equals("names");
        int count = Integer.parseInt(args[1]);
        List<Thread> threads = new ArrayList<>();
        for (String name : NAMES) {
            Node node = new Node(name);
            for (String role : new String[] {"io", "sync"}) {
                Runnable body = () -> {
                    if (!named) {
                        carry(name);
                    }
                    for (int i = 0; i < count; i++) {
                        node.reach();
                    }
                };
                threads.add(new Thread(body, named ? name + "-" + role : "worker-" + threads.size()));
            }
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
