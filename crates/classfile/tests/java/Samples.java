import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Many language features, each with output that shows a wrong jump or a lost handler. */
public class Samples {
    static final StringBuilder LOG = new StringBuilder();

    static class Base {
        final String text;
        final long number;

        Base(String text, long number) {
            this.text = text;
            this.number = number;
        }

        Base(int n) {
            this(n > 2 ? "many" : n == 2 ? "two" : "few", n < 0 ? -n : (long) n * 3);
        }
    }

    static class Derived extends Base {
        final double extra;

        Derived(int n, Object o) {
            super(o != null ? o.toString() : new StringBuilder(n > 0 ? "pos" : "neg").append(n).toString(),
                n % 2 == 0 ? 1L : o instanceof String ? 2L : 3L);
            double sum = 0;
            for (int i = 0; i < n; i++) {
                sum += i * 0.5;
            }
            if (n == 99) {
                throw new IllegalStateException("99");
            }
            extra = sum;
        }
    }

    record Point(int x, double y) {
        Point {
            if (x < 0) {
                throw new IllegalArgumentException("x");
            }
        }
    }

    sealed interface Node permits Leaf, Tree {}
    record Leaf(int value) implements Node {}
    record Tree(Node left, Node right) implements Node {}

    enum Level { LOW, MIDDLE, HIGH }

    static int sum(Node node) {
        if (node instanceof Leaf leaf) {
            return leaf.value();
        }
        Tree tree = (Tree) node;
        return sum(tree.left()) + sum(tree.right());
    }

    static int tryFinally(int n) {
        int result = 0;
        try {
            if (n == 0) {
                return 10;
            }
            if (n == 1) {
                throw new RuntimeException("one");
            }
            result = 100 / (n - 2);
        } catch (ArithmeticException e) {
            result = -1;
        } catch (RuntimeException e) {
            result = -2;
        } finally {
            LOG.append('f').append(n);
            if (n == 5) {
                result = 55;
            }
        }
        return result;
    }

    static String strings(String key) {
        switch (key) {
            case "a":
                return "first";
            case "Aa":
            case "BB":
                return "collision " + key;
            case "zz":
                key = "fall";
            default:
                return "default " + key;
        }
    }

    static int dense(int n) {
        switch (n) {
            case 0: return 5;
            case 1: n += 2;
            case 2: n *= 3; break;
            case 3: return -n;
            case 4: case 5: n = 7;
        }
        return n;
    }

    static int sparse(int n) {
        return switch (n) {
            case -1000 -> 1;
            case 7 -> { int k = 0; while (k < n) { k += 2; } yield k; }
            case 1 << 20 -> 3;
            default -> 4;
        };
    }

    static String levels(Level level) {
        return switch (level) { case LOW -> "l"; case MIDDLE -> "m"; case HIGH -> "h"; };
    }

    static long nested(int n) {
        long total = 0;
        outer:
        for (int i = 0; i < n; i++) {
            int j = 0;
            while (true) {
                if (j > i) continue outer;
                if (total > 500) break outer;
                do {
                    total += (i ^ j) + 1L;
                    j++;
                } while (j % 3 != 0);
            }
        }
        return total;
    }

    static synchronized int locked(List<Integer> list, Object lock) {
        int seen = 0;
        synchronized (lock) {
            for (Integer i : list) {
                synchronized (list) {
                    if (i == 3) {
                        seen += 1000;
                        continue;
                    }
                    seen += i;
                }
            }
        }
        return seen;
    }

    static class Resource implements AutoCloseable {
        final String name;
        Resource(String name) { this.name = name; LOG.append("open ").append(name).append(';'); }
        @Override public void close() throws Exception {
            LOG.append("close ").append(name).append(';');
            if (name.equals("bad")) throw new Exception("close");
        }
    }

    static String resources(String second, boolean fail) {
        try (Resource a = new Resource("a"); Resource b = new Resource(second)) {
            if (fail) throw new IllegalStateException("body");
            return "ok";
        } catch (Exception e) {
            return e.getMessage() + e.getSuppressed().length;
        }
    }

    static boolean logic(int a, Integer b, boolean c) {
        return a > 3 && (b == null || b > a) || c && !(a == 2);
    }

    static double floating(float f, double d, long l) {
        double r = f > d ? f : d < l ? l : Double.NaN;
        for (long k = l; k > 0; k >>= 1) {
            r += (k & 1) == 0 ? 0.25 : f * d;
        }
        return Double.isNaN(r) ? -1 : r;
    }

    static <T, R> List<R> map(List<T> in, Function<? super T, ? extends R> f) {
        List<R> out = new ArrayList<>();
        for (T t : in) out.add(f.apply(t));
        return out;
    }

    static int[][] grid(int n) {
        int[][] g = new int[n][n + 1];
        for (int[] row : g) for (int i = 0; i < row.length; i++) row[i] = i += row.length > 3 ? 1 : 0;
        return g;
    }

    public static void main(String[] args) {
        for (int i = -1; i < 7; i++) {
            System.out.println(tryFinally(i) + " " + dense(i) + " " + nested(i * 3) + " " + logic(i, i % 2 == 0 ? null : 5, i == 6));
            System.out.println(new Base(i).text + new Base(i).number + " " + new Derived(i, i == 3 ? "three" : null).text
                + new Derived(i, "s").number + new Derived(i, 4).extra);
        }
        for (String s : new String[] {"a", "Aa", "BB", "zz", ""}) System.out.println(strings(s));
        for (int n : new int[] {-1000, 7, 1 << 20, 0}) System.out.println(sparse(n));
        for (Level level : Level.values()) System.out.println(levels(level));
        System.out.println(locked(List.of(1, 2, 3, 4), new Object()));
        System.out.println(resources("b", false) + resources("b", true) + resources("bad", false) + resources("bad", true));
        System.out.println(floating(1.5f, 2.5, 9) + " " + floating(3f, 2, 0) + " " + floating(0f, 1, 0));
        int base = 3;
        Supplier<String> supplier = () -> "base" + base;
        System.out.println(map(List.of(1, 2, 3), x -> x * base) + supplier.get() + map(List.of("q"), String::length));
        System.out.println(java.util.Arrays.deepToString(grid(4)));
        System.out.println(sum(new Tree(new Leaf(3), new Tree(new Leaf(4), new Leaf(5)))));
        System.out.println(new Point(1, 2.5) + " " + new Point(1, 2.5).equals(new Point(1, 2.5)));
        try {
            new Point(-1, 0);
        } catch (IllegalArgumentException e) {
            System.out.println("caught " + e.getMessage() + " at line " + e.getStackTrace()[0].getLineNumber());
        }
        try {
            new Derived(99, null);
        } catch (IllegalStateException e) {
            System.out.println("caught " + e.getMessage() + " at line " + e.getStackTrace()[0].getLineNumber());
        }
        Map<String, Integer> counts = new TreeMap<>();
        for (String w : "a b a c b a".split(" ")) counts.merge(w, 1, Integer::sum);
        System.out.println(counts);
        System.out.println(IntStream.range(0, 20).filter(i -> i % 3 == 0).boxed().collect(Collectors.toList()));
        Object o = new Object() { int count; @Override public String toString() { return "anon" + ++count; } };
        System.out.println(o.toString() + o);
        String block = """
            text
              block""";
        System.out.println(block + LOG);
        System.out.println("done");
    }
}
