package probe;

import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What the language has that is hard on whoever patches class files: constructors that call each other, initialisers,
 * monitors, switches, nested loops with labels, wide values, finally, lambdas, and a stack that overflows. It prints one
 * line a thing.
 */
public class Constructs {
    static class Made {
        final int x;
        final long y;

        Made(int x) {
            this(x, 5L); // site: this
        }

        Made(int x, long y) {
            super(); // site: made
            this.x = x;
            this.y = y;
            if (x < 0) {
                throw new IllegalArgumentException("negative");
            }
        }
    }

    static class Initialised {
        static int value;

        static {
            value = Integer.parseInt("3"); // site: initialiser
        }
    }

    interface Shape {
        default double area(double r, long k) {
            return r * k; // site: default
        }

        static boolean isBig(double d) {
            return d > 1e3;
        }
    }

    enum Color {
        RED { @Override int value() { return 1; } },
        BLUE { @Override int value() { return 2; } };

        abstract int value();
    }

    static synchronized int monitors(int n) {
        synchronized (Color.class) {
            if (n == 3) {
                throw new IllegalStateException("three");
            }
            return n; // site: monitors
        }
    }

    static int table(int n) {
        switch (n) {
            case 1: return 10;
            case 2:
            case 3: return 20;
            case 1000: return 30;
            default: return -1;
        }
    }

    static String texts(String s) {
        switch (s) {
            case "a": return "A";
            case "bb": return "BB";
            default: return "?";
        }
    }

    static long loops(int a, long b, double c, float d, boolean e, char f) {
        long r = 0;
        outer:
        for (int i = 0; i < 5; i++) {
            for (int j = 0; j < 5; j++) {
                if (j == 3) {
                    continue outer;
                }
                if (i == 4) {
                    break outer;
                }
                r += (e ? a : b) * j + (long) (c + d) + f;
            }
        }
        do {
            r--;
        } while (r % 7 != 0);
        try {
            r /= a - 1;
        } catch (ArithmeticException expected) {
            r = -1;
        } finally {
            r++;
        }
        return r;
    }

    static boolean logic(boolean a, boolean b) {
        return a && b || !a;
    }

    private static int depth;

    static int recurse(int n) {
        depth = n;
        return recurse(n + 1) + 1;
    }

    static void say(String what, Supplier<Object> value) {
        String text;
        try {
            text = String.valueOf(value.get());
        } catch (Throwable e) {
            Throwable cause = e instanceof ExceptionInInitializerError ? e.getCause() : e;
            text = Caught.describe(cause);
        }
        System.out.println(what + " " + text);
    }

    public static void main(String[] args) {
        for (int n = -1; n < 4; n++) {
            int i = n;
            say("made", () -> new Made(i).y);
            say("monitors", () -> monitors(i));
            say("free", () -> !Thread.holdsLock(Constructs.class) && !Thread.holdsLock(Color.class));
            say("table", () -> table(i));
            say("texts", () -> texts(i == 1 ? "a" : "bb"));
            say("loops", () -> loops(i, 7L, 2.5, 1f, i % 2 == 0, 'x'));
            say("logic", () -> logic(i > 1, i > 2));
        }
        say("initialised", () -> Initialised.value);
        say("default", () -> new Shape() {}.area(2, 3));
        say("static", () -> Shape.isBig(5));
        say("enum", () -> Color.RED.value() + Color.BLUE.value());
        Function<Integer, Supplier<Object>> nested = n -> () -> "lambda " + n;
        say("nested", nested.apply(4));
        try {
            recurse(0);
        } catch (StackOverflowError expected) {
            System.out.println("recursed " + (depth > 100));
        }
    }
}
