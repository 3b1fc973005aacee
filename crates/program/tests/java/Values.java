package fixture;

import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;

/** What is passed to {@link #see} and what is returned is what the tests look at. */
public class Values {
    int field;
    long wide;
    static Object shared;

    static void see(int x) {}

    static void see(long x) {}

    static void see(double x) {}

    static void see(Object x) {}

    static void see(Object x, Object y) {}

    static int f() {
        return 7;
    }

    static Object make() throws IOException {
        return null;
    }

    static int ternary(boolean c) {
        return c ? 1 : 2;
    }

    static int ternaryInArgument(boolean c, int x) {
        return Math.max(x, c ? 1 : 2);
    }

    static long ternaryLong(boolean c, long x) {
        return x * (c ? 1L : x);
    }

    static int counted(int n) {
        int i = 0;
        while (i < n) {
            i++;
        }
        return i;
    }

    static int untouchedInLoop(int n, int x) {
        for (int i = 0; i < n; i++) {
            see(x);
        }
        return x;
    }

    static int nestedLoops(int n, int x) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                if (j == x) {
                    continue;
                }
                see(x);
            }
        }
        return x + sum;
    }

    static int reassigned(int x) {
        x = x + 1;
        see(x);
        x = 5;
        return x;
    }

    static int chained() {
        int a, b;
        a = b = f();
        see(a);
        return b;
    }

    int chainedField(int x) {
        int y = field = x;
        return y;
    }

    int postIncrement() {
        return field++;
    }

    long postIncrementLong() {
        return wide++;
    }

    static int arrayCompound(int[] a, int i) {
        return a[i] += 3;
    }

    static long longs(long a, int b, double c) {
        long sum = a + b;
        see(c * 2);
        return sum << b;
    }

    static double mixed(double a, long b, float c) {
        see(b);
        return a - b / c;
    }

    static String text(int x, String y) {
        return new StringBuilder().append(x).append(y).append('c').toString();
    }

    static void branchesInChain(boolean c) {
        see(new StringBuilder().append(c ? "yes" : "no").toString());
    }

    static Object caught() {
        try {
            return make();
        } catch (IOException e) {
            return e;
        }
    }

    static int localInHandler() {
        int x = 0;
        try {
            f();
            x = 1;
            f();
            x = 2;
        } catch (RuntimeException e) {
            see(x);
        }
        return x;
    }

    static int noThrowBetween() {
        int x = 0;
        try {
            x = 1;
            x = 2;
            f();
            x = 3;
        } catch (RuntimeException e) {
            return x;
        }
        return -1;
    }

    static long longInHandler(long x) {
        try {
            x = 1L;
            f();
            x++;
            f();
        } catch (RuntimeException e) {
            return x;
        }
        return 0;
    }

    static Object retried(Supplier<Object> s) {
        int tries = 0;
        while (true) {
            try {
                return s.get();
            } catch (RuntimeException e) {
                tries++;
                if (tries > 3) {
                    throw e;
                }
                see(tries);
            }
        }
    }

    static int withFinally(int x) {
        try {
            x = f();
        } finally {
            see(x);
        }
        return x;
    }

    @SuppressWarnings("finally")
    static int returnInFinally(int x) {
        try {
            return f();
        } finally {
            return x;
        }
    }

    static Object multi(boolean c) {
        Object last = null;
        try {
            last = make();
            last = c ? shared : "text";
            see(last);
        } catch (IOException | IllegalStateException e) {
            see(e, last);
        }
        return last;
    }

    static void locked(Object o) {
        synchronized (o) {
            see(o);
        }
    }

    static Object cast(Object o, boolean c) {
        String s = c ? (String) o : null;
        return s;
    }

    static boolean tests(Object o) {
        return o instanceof String s && s.isEmpty();
    }

    static int switched(int x) {
        int y;
        switch (x) {
            case 1: y = 10; break;
            case 2: y = 20; break;
            default: y = 30;
        }
        return y;
    }

    static String switchedByText(String x) {
        return switch (x) {
            case "a" -> "b";
            case "c" -> "d";
            default -> x;
        };
    }

    static Supplier<Object> captured(Object o, int x) {
        return () -> o.toString() + x;
    }

    static void thrown(String why) {
        throw new IllegalStateException(why);
    }

    static int[][] arrays(int n) {
        int[][] a = new int[n][2];
        a[0][1] = a.length;
        return a;
    }

    static Class<?> constants() {
        see(100);
        see(70000);
        see(-3);
        see(5000000000L);
        see(2.5);
        see(2.0f);
        see("text");
        see(null);
        return Values.class;
    }

    Values self(Values other, boolean c) {
        return c ? this : other;
    }

    static Object each(List<Object> list) {
        Object last = null;
        for (Object o : list) {
            last = o;
        }
        return last;
    }

    static int swappedInLoop(int a, int b, int n) {
        while (n > 0) {
            int t = a;
            a = b;
            b = t;
            n--;
        }
        return a;
    }

    static void endless() {
        int i = 0;
        while (true) {
            see(i);
            i += 2;
        }
    }

    static int squared(int x) {
        int y = f();
        return y * y + x;
    }

    static Object guardedNothing() {
        Object o = shared;
        boolean done;
        try {
            done = true;
        } catch (RuntimeException e) {
            return o;
        }
        return done;
    }
}
