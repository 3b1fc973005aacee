package fixture;

public class Loops {
    static int work;

    static void plainFor(int n) {
        for (int i = 0; i < n; i++) {
            work += i;
        }
    }

    static void plainWhile(int n) {
        while (n > 0) {
            n -= work;
        }
        work = n;
    }

    static void doWhile(int n) {
        do {
            n--;
        } while (n > 0);
    }

    static int returnInside(int[] a, int x) {
        for (int i = 0; i < a.length; i++) {
            if (a[i] == x) {
                return i;
            }
        }
        return -1;
    }

    static int nested(int n) {
        int sum = 0;
        outer:
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                if (j == work) {
                    continue outer;
                }
                if (i == work) {
                    break outer;
                }
                sum += j;
            }
        }
        return sum;
    }

    static void retry(Runnable r) {
        while (true) {
            try {
                r.run();
                return;
            } catch (RuntimeException e) {
                work++;
            }
        }
    }

    static void finallyInside(Runnable r, int n) {
        for (int i = 0; i < n; i++) {
            try {
                r.run();
            } finally {
                work++;
            }
        }
    }

    static void locked(Object o) {
        synchronized (o) {
            work++;
        }
    }

    static void firstThing() {
        while (true) {
            work++;
        }
    }
}
