package probe;

/** `Trails MODE`: calls, loops and exceptions whose contexts, iterations and paths are known. */
public class Trails {
    static void leaf() {}

    static void loop(int n) {
        for (int i = 0; i < n; i++) {
            if (i % 2 == 0) {
                leaf();
            }
        }
    }

    static void left() {
        loop(3);
    }

    static void right() {
        loop(5);
    }

    static void fail() {
        throw new IllegalStateException();
    }

    /** A loop that an exception leaves together with its method. */
    static void thrown() {
        for (int i = 0; i < 10; i++) {
            if (i == 2) {
                fail();
            }
        }
    }

    /** A loop that an exception leaves, and its method does not. */
    static void caught() {
        try {
            for (int i = 0; i < 10; i++) {
                if (i == 3) {
                    fail();
                }
            }
        } catch (IllegalStateException e) {
            leaf();
        }
    }

    static void deep(int n) {
        if (n == 0) {
            fail();
        }
        deep(n - 1);
    }

    private static void expect(Runnable thrower) {
        try {
            thrower.run();
        } catch (IllegalStateException e) {
            return;
        }
        throw new AssertionError("nothing was thrown");
    }

    public static void main(String[] args) {
        switch (args[0]) {
            case "calls":
                left();
                right();
                left();
                break;
            case "exceptions":
                for (int i = 0; i < 1000; i++) {
                    expect(Trails::thrown);
                    caught();
                }
                leaf();
                break;
            case "deep":
                expect(() -> deep(Integer.parseInt(args[1])));
                leaf();
                break;
            case "after":
                for (int i = 0; i < 1000; i++) {
                    expect(Trails::thrown);
                    caught();
                }
                expect(() -> deep(Integer.parseInt(args[1])));
                left();
                right();
                left();
                break;
            case "guard":
                leaf();
                try {
                    left();
                } catch (IllegalArgumentException e) {
                    System.out.println("in the loop");
                }
                break;
            default:
                throw new AssertionError(args[0]);
        }
        System.out.println("done");
    }
}
