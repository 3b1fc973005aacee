package fixture;

/** What decides about each {@link #see}. */
public class Branches {
    static void see(String x) {}

    static boolean more() {
        return false;
    }

    static void ifElse(boolean a) {
        if (a) {
            see("then");
        } else {
            see("else");
        }
        see("after");
    }

    static void nested(boolean a, boolean b) {
        if (a) {
            see("outer");
            if (b) {
                see("inner");
            }
            see("rest");
        }
    }

    static void and(boolean a, boolean b) {
        if (a && b) {
            see("both");
        }
    }

    static void or(boolean a, boolean b) {
        if (a || b) {
            see("any");
        } else {
            see("none");
        }
    }

    static void andOr(boolean a, boolean b, boolean c) {
        if (a && b || c) {
            see("yes");
        }
    }

    static void guard(boolean a) {
        if (a) {
            return;
        }
        see("rest");
    }

    static void switched(int x) {
        switch (x) {
            case 1:
                see("one");
            case 2:
                see("two");
                break;
            default:
                see("other");
        }
        see("after");
    }

    static void loop(int n) {
        for (int i = 0; i < n; i++) {
            see("body");
        }
        see("after");
    }

    static void doLoop() {
        do {
            see("body");
        } while (more());
        see("after");
    }

    static void leaves(int n) {
        while (n > 0) {
            if (more()) {
                break;
            }
            see("body");
            n--;
        }
        see("after");
    }

    static void leavesByReturn(int n) {
        while (n > 0) {
            if (more()) {
                return;
            }
            n--;
        }
        see("after");
    }

    static void endless(boolean a) {
        while (true) {
            if (a) {
                see("sometimes");
            }
            see("always");
        }
    }

    static void endlessIf(boolean a) {
        if (a) {
            while (true) {
                see("for ever");
            }
        }
        see("else");
    }

    static void caught(boolean a) {
        try {
            if (a) {
                see("try");
            }
        } catch (RuntimeException e) {
            see("catch");
            if (a) {
                see("in catch");
            }
        }
        see("after");
    }

    static void thrown(boolean a) {
        if (a) {
            throw new IllegalStateException();
        }
        see("rest");
    }

    static void locked(boolean a) {
        synchronized (Branches.class) {
            if (a) {
                see("inside");
            }
            see("still");
        }
        see("after");
    }

    @SuppressWarnings("finally")
    static int returnInFinally(boolean a) {
        try {
            if (a) {
                see("try");
            }
        } finally {
            see("finally");
            return 1;
        }
    }

    static void ternary(boolean a, boolean b) {
        see(a ? b ? "1" : "2" : "3");
    }
}
