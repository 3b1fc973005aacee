package probe;

/** Accesses of each kind, with values that are told from each other. */
public class Values {
    int number;
    long wide;
    float part;
    double big;
    boolean flag;
    byte small;
    Values other;
    static long shared;
    static Object thing;
    final int kept;

    Values(int kept) {
        this.kept = kept;
    }

    /** Writes a field before its superclass is there. */
    class Inner extends Values {
        Inner() {
            super(3);
            number = 30;
        }
    }

    public static void main(String[] args) throws Exception {
        Values values = new Values(7);
        fields(values);
        statics(values);
        arrays(values);
        constants(values);
        values.calls(5, -6L, 1.5f, 2.5, "text", new int[] {1});
        branches(values, 9);
        values.new Inner();
        locks(values);
        System.out.println("done");
    }

    static void fields(Values it) {
        it.number = 11;
        it.wide = 1L << 40;
        it.part = 0.5f;
        it.big = -2.25;
        it.flag = true;
        it.small = -1;
        it.other = it;
        int number = it.number;
        long wide = it.wide;
        float part = it.part;
        double big = it.big;
        boolean flag = it.flag;
        byte small = it.small;
        Values other = it.other;
        it.number += (int) (number + wide + part + big + small) + (flag && other == it ? 1 : 0);
    }

    static void statics(Values it) {
        shared = 1L << 41;
        thing = it;
        long wide = shared;
        Object same = thing;
        it.wide = wide + (same == it ? 1 : 0);
    }

    static void arrays(Values it) {
        int[] ints = new int[4];
        long[] longs = new long[4];
        double[] doubles = new double[4];
        byte[] bytes = new byte[4];
        Values[] objects = new Values[4];
        int[][] nested = new int[2][3];
        ints[1] = 21;
        longs[2] = 1L << 42;
        doubles[3] = 3.5;
        bytes[0] = -5;
        objects[1] = it;
        objects[2] = null;
        nested[1][2] = 22;
        it.wide = ints[1] + longs[2] + (long) doubles[3] + bytes[0] + nested[1][2];
        it.other = objects[1];
        it.other = objects[2];
    }

    /** Something that is made where its constructor's arguments choose. */
    static void constants(Values it) {
        it.other = new Values(it.flag ? new Values(1).kept : 2);
        StringBuilder text = new StringBuilder("a").append(it.kept);
        it.number = text.length();
    }

    long calls(int a, long b, float c, double d, String e, int[] f) {
        return chain(a, b, c, d, e, f) + other(this);
    }

    static long other(Values it) {
        return it.kept;
    }

    long chain(int a, long b, float c, double d, String e, int[] f) {
        return a + b + (long) c + (long) d + e.length() + f[0];
    }

    static void branches(Values it, int count) {
        if (count > 5) {
            it.number = 1;
        }
        if (it.other == it) {
            it.number = 2;
        }
        if (it.other != null) {
            it.number = 3;
        }
        switch (count) {
            case 9:
                it.number = 4;
                break;
            default:
                it.number = 5;
        }
        while (count-- > 7) {
            it.number++;
        }
    }

    static void locks(Values it) throws Exception {
        Object lock = new Object();
        synchronized (lock) {
            it.number = 40;
        }
        // The lock is held where a loop begins.
        synchronized (it) {
            while (it.number < 43) {
                it.number++;
            }
        }
        it.held(false);
        try {
            it.held(true);
        } catch (IllegalStateException expected) {
            it.number = 44;
        }
        heldByClass();
    }

    synchronized void held(boolean fails) {
        if (fails) {
            throw new IllegalStateException("asked for");
        }
        number++;
    }

    static synchronized void heldByClass() {
        shared++;
    }
}
