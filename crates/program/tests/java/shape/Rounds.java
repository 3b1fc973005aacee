package shape;

import java.io.InputStream;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;

class Rounds {
    volatile boolean running;
    int limit;

    int constant() { int n = 0; for (int i = 0; i < 10; i++) n += i; return n; }
    int constantDown() { int n = 0; for (int i = 10; i > 0; i--) n += i; return n; }
    int constantTries() { int i = 0; do { i++; } while (i < 5 && !running); return i; }
    long constantLong() { long n = 0; for (long i = 0; i < 100L; i += 2) n += i; return n; }
    int upToField() { int n = 0; for (int i = 0; i < limit; i++) n += i; return n; }
    int downFromField() { int n = 0; for (int i = limit; i >= 0; i--) n += i; return n; }
    int array(int[] all) { int n = 0; for (int it : all) n += it; return n; }
    int arrayDown(int[] all) { int n = 0; for (int i = all.length - 1; i >= 0; i--) n += all[i]; return n; }
    int list(List<Integer> all) { int n = 0; for (int i = 0; i < all.size(); i++) n += all.get(i); return n; }
    int each(List<Integer> all) { int n = 0; for (int it : all) n += it; return n; }
    void iterator(Iterator<String> all) { while (all.hasNext()) all.next(); }
    void forever() { while (running) limit++; }
    int jumps(int n) { int i = 0; while (i < 100) { i++; if (i == n) i = 0; } return i; }
    int sometimes(int n) { int i = 0; while (true) { if (n > 3) { if (i > 10) break; } i++; } return i; }

    void reads(InputStream in) throws IOException { while (in.read() >= 0) limit++; }
    void sleeps() throws InterruptedException { while (running) Thread.sleep(10); }
    void takes(BlockingQueue<Object> all) throws InterruptedException { while (running) all.take(); }
    void deep(InputStream in) throws IOException { while (running) deeper(in); }
    void deeper(InputStream in) throws IOException { in.read(); }

    void overIterator(Iterator<Integer> all) { while (all.hasNext()) limit += all.next(); }

    /** An iterator that reads: not every iterator does. */
    static class Bytes implements Iterator<Integer> {
        InputStream in = System.in;
        public boolean hasNext() { return true; }
        public Integer next() {
            try {
                return in.read();
            } catch (IOException e) {
                return -1;
            }
        }
    }

    void timed() {
        long end = now() + 1000;
        while (now() < end) limit++;
    }
    long now() { return System.nanoTime() / 1_000_000; }
    void stamps() { while (running) limit = (int) now(); }

    void nested(Map<String, List<String>> all) {
        for (List<String> list : all.values()) {
            for (String it : list) limit += it.length();
            for (String it : list) limit -= it.length();
        }
    }

    void outer() { while (running) inner(); }
    private void inner() { innermost(); }
    private void innermost() { for (int i = 0; i < limit; i++) limit--; }
    void twice() { while (running) shared(); shared(); }
    private void shared() { for (int i = 0; i < limit; i++) limit--; }
}
