package shape;

import java.io.File;
import java.io.IOException;
import java.util.Set;

class Detecting {
    final int limit;
    volatile boolean broken;
    long last;
    Set<String> all = Set.of();

    Detecting(int limit) { this.limit = limit; }

    boolean isStale(long interval) { return System.currentTimeMillis() - last > interval; }
    boolean isBroken() { return broken; }
    boolean always() { return true; }
    boolean isLarge() { return limit > 100; }
    static boolean isEven(int n) { return n % 2 == 0; }
    boolean exists(String path) { return new File(path).exists(); }
    boolean works() {
        try {
            write();
            return true;
        } catch (IOException e) {
            return false;
        }
    }
    boolean decides(Object it) {
        if (broken) return false;
        return it != null;
    }
    boolean dropped() { return broken; }
    boolean uncalled() { return broken; }
    boolean byReference() { return broken; }
    boolean contains(String it) { return all.contains(it); }
    boolean isKind(Class<?> it, Object of) { return it.isInstance(of); }
    @Override
    public boolean equals(Object other) { return other instanceof Detecting && ((Detecting) other).last == last; }
    @Override
    public int hashCode() { return 1; }

    void write() throws IOException { if (broken) throw new IOException(); }

    int use() {
        dropped();
        java.util.function.BooleanSupplier it = this::byReference;
        boolean any = isStale(3) | isBroken() | always() | isLarge() | isEven(3) | exists("x") | works()
            | decides(this) | contains("x") | isKind(String.class, "x") | it.getAsBoolean();
        return any ? 1 : 0;
    }
}
