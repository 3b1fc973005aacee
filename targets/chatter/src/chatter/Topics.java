package chatter;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The posts by topic, the topics whose pages are out of date, and the workers that are there to render them. */
final class Topics {
    private final Map<Integer, Map<Integer, Post>> posts = new HashMap<>();
    private final Deque<Integer> stale = new ArrayDeque<>();
    private final Set<Integer> rendering = new HashSet<>();
    private int workers;

    /** Tests whether the post is new. */
    synchronized boolean add(Post post) {
        Map<Integer, Post> topic = posts.computeIfAbsent(post.topic(), it -> new HashMap<>());
        boolean isNew = topic.putIfAbsent(post.number(), post) == null;
        if (isNew) {
            invalidate(post.topic());
        }
        return isNew;
    }

    synchronized void invalidate(int topic) {
        if (!stale.contains(topic)) {
            stale.addLast(topic);
            notifyAll();
        }
    }

    synchronized List<Post> of(int topic) {
        return new ArrayList<>(posts.getOrDefault(topic, Map.of()).values());
    }

    /** A topic to be rendered, which no other worker gets until it is done; -1 if there is none for so long. */
    synchronized int take(long limitMs) throws InterruptedException {
        long deadline = System.nanoTime() + limitMs * 1_000_000;
        while (true) {
            for (Integer topic : stale) {
                if (!rendering.contains(topic)) {
                    stale.remove(topic);
                    rendering.add(topic);
                    return topic;
                }
            }
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                return -1;
            }
            wait(left);
        }
    }

    /** A worker has rendered the topic, or is gone and has not. */
    synchronized void end(int topic, boolean rendered) {
        rendering.remove(topic);
        if (!rendered) {
            invalidate(topic);
        }
        notifyAll();
    }

    synchronized void come() {
        workers++;
        notifyAll();
    }

    synchronized void go() {
        workers--;
    }

    /** A board without workers shows nothing: it stays closed until the first is there, however long that takes. */
    synchronized void awaitFirst() throws InterruptedException {
        while (workers == 0) {
            wait();
        }
    }
}
