package bare;

/**
 * What is measured: loops whose body is calls of next to nothing. The benchmark compiles it twice, as it is and with
 * its package renamed to {@code hooked}, so that one JVM runs both and only one of them has hooks.
 */
public final class Loop {
    private static final int MASK = 4095;

    private Loop() {}

    /** Bytes for {@link #four} and {@link #one}. A store of a byte is what keeps the JIT from hoisting a hook's load. */
    public static byte[] cells() {
        return new byte[MASK + 1];
    }

    /** Four call sites an iteration. */
    public static void four(byte[] cells, int iterations) {
        for (int i = 0; i < iterations; i++) {
            a(cells, i);
            b(cells, i);
            c(cells, i);
            d(cells, i);
        }
    }

    /** One call site, for many threads; returns how many faults came out of it. */
    public static int one(byte[] cells, int iterations) {
        int faults = 0;
        for (int i = 0; i < iterations; i++) {
            try {
                a(cells, i);
            } catch (IllegalStateException e) {
                faults++;
            }
        }
        return faults;
    }

    static void a(byte[] cells, int i) {
        cells[i & MASK]++;
    }

    static void b(byte[] cells, int i) {
        cells[(i + 1024) & MASK]++;
    }

    static void c(byte[] cells, int i) {
        cells[(i + 2048) & MASK]++;
    }

    static void d(byte[] cells, int i) {
        cells[(i + 3072) & MASK]++;
    }
}
