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

    static boolean more(int[] left) {
        return left[0]-- > 0;
    }

    static void either(int[] a, int[] b) {
        while (more(a) || more(b)) {
            work++;
        }
    }

    static void both(int[] a, int[] b) {
        while (more(a) && more(b)) {
            work++;
        }
    }

    static void overList(java.util.List<String> list) {
        for (String it : list) {
            work += it.length();
        }
    }

    static void overArray(int[] array) {
        for (int it : array) {
            work += it;
        }
    }

    static void breakInTheMiddle(int n) {
        for (;;) {
            work++;
            if (n-- <= 0) {
                break;
            }
            work++;
        }
    }

    static void emptyBody(int[] left) {
        while (more(left));
    }

    static void assignInCondition(java.util.Iterator<String> lines) {
        String line;
        while ((line = lines.hasNext() ? lines.next() : null) != null) {
            work += line.length();
        }
    }

    static void testInTheBody(int n) {
        while (n-- > 0) {
            if (work > n) {
                work--;
            } else {
                work++;
            }
        }
    }

    static void continues(int n) {
        for (int i = 0; i < n; i++) {
            if (i % 2 == 0) {
                continue;
            }
            work++;
        }
    }

    static void ternary(int n, boolean small) {
        for (int i = 0; i < (small ? n : n * 2); i++) {
            work++;
        }
    }

    static void conditional(int n, boolean on) {
        while (on ? n-- > 0 : n++ < 0) {
            work++;
        }
    }
}
