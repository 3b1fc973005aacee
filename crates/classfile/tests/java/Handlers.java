import java.io.IOException;

/** Every shape of handler that javac writes, run until a JIT compiler takes it. */
public final class Handlers {
    static final int ROUNDS = 6000;
    static final Object LOCK = new Object();
    static int handlers;
    static int thrown;
    static int left;
    static boolean armed;
    static int work;

    /** What a hook at a handler calls. */
    static void handler() {
        handlers++;
        if (armed) {
            armed = false;
            throw new IllegalStateException("from a hook");
        }
    }

    /** What a hook calls behind which a call has failed. */
    static void thrown(Throwable ignored) {
        thrown++;
    }

    /** What a hook calls when an exception leaves a method. */
    static void left(Throwable ignored) {
        left++;
    }

    static void fail(int how) throws IOException {
        switch (how) {
            case 1: throw new IOException("checked");
            case 2: throw new IllegalArgumentException("unchecked");
            case 3: throw new AssertionError("error");
            default: work++;
        }
    }

    static int caught(int how) {
        try {
            fail(how);
            return 1;
        } catch (IOException e) {
            return 2;
        }
    }

    static int ordered(int how) {
        int n = 1;
        try {
            fail(how);
            n = 2;
        } catch (IOException e) {
            n += 10;
        } catch (RuntimeException e) {
            n += 20;
        } catch (Error e) {
            n += 30;
        }
        return n;
    }

    static int either(int how) {
        try {
            fail(how);
        } catch (IOException | IllegalArgumentException e) {
            return e.getMessage().length();
        }
        return 0;
    }

    static int cleaned(int how) throws IOException {
        try {
            fail(how);
        } finally {
            work += 3;
        }
        return work & 1;
    }

    static int caughtAndCleaned(int how) throws IOException {
        try {
            fail(how);
        } catch (IOException e) {
            fail(2);
        } finally {
            fail(0);
        }
        return 5;
    }

    static int locked(int how) throws IOException {
        synchronized (LOCK) {
            fail(how);
        }
        return 6;
    }

    static int lockedAndCaught(int how) {
        synchronized (LOCK) {
            try {
                fail(how);
            } catch (IOException e) {
                work++;
            }
        }
        return 7;
    }

    static int lockedAndAgain(int how) throws IOException {
        synchronized (LOCK) {
            try {
                fail(how);
            } catch (IOException e) {
                fail(how + 1);
            } catch (IllegalArgumentException e) {
                synchronized (e) {
                    fail(how - 1);
                }
            } finally {
                fail(0);
            }
        }
        return 8;
    }

    static final class Resource implements AutoCloseable {
        @Override
        public void close() throws IOException {
            work++;
            fail(work % 7 == 0 ? 1 : 0);
        }
    }

    static int closed(int how) throws IOException {
        try (Resource first = new Resource(); Resource second = new Resource()) {
            fail(how);
        }
        return 9;
    }

    static int looped(int how) {
        int n = 0;
        for (int i = 0; i < 4; i++) {
            try {
                fail(i == 2 ? how : 0);
                n++;
            } catch (IOException e) {
                continue;
            } catch (RuntimeException e) {
                break;
            } finally {
                n += 10;
            }
        }
        return n;
    }

    static int again(int how) {
        while (true) {
            try {
                fail(how);
                return how;
            } catch (IOException e) {
                how = 2;
            } catch (IllegalArgumentException e) {
                how = 0;
            }
        }
    }

    static int nested(int how) {
        int n = 0;
        try {
            long wide = how;
            try {
                double wider = wide;
                try {
                    fail(how);
                } catch (IOException e) {
                    n += (int) wider;
                    fail(2);
                }
            } catch (IllegalArgumentException e) {
                n += (int) wide;
                fail(1);
            } finally {
                n += 100;
            }
        } catch (IOException e) {
            n += 1000;
        }
        return n;
    }

    static synchronized int guarded(int how) {
        try {
            fail(how);
        } catch (IOException e) {
            return 10;
        }
        return 11;
    }

    int field;

    Handlers(int how) throws IOException {
        super();
        try {
            fail(how);
        } catch (IOException e) {
            field = 12;
        } finally {
            fail(0);
        }
    }

    static int made(int how) throws IOException {
        return new Handlers(how).field;
    }

    interface Shape {
        int run(int how) throws IOException;
    }

    static final String[] NAMES = {
        "caught", "ordered", "either", "cleaned", "caughtAndCleaned", "locked", "lockedAndCaught", "lockedAndAgain", "closed", "looped",
        "again", "nested", "guarded", "made",
    };
    static final Shape[] SHAPES = {
        Handlers::caught, Handlers::ordered, Handlers::either, Handlers::cleaned, Handlers::caughtAndCleaned, Handlers::locked,
        Handlers::lockedAndCaught, Handlers::lockedAndAgain, Handlers::closed, Handlers::looped, Handlers::again, Handlers::nested,
        Handlers::guarded, Handlers::made,
    };

    /** The sum of what a shape answers, and of the messages with which it ends. */
    static long run(Shape shape) {
        long sum = 0;
        for (int i = 0; i < ROUNDS; i++) {
            int how = i % 11 < 4 ? i % 11 : 0;
            try {
                sum = sum * 31 + shape.run(how);
            } catch (Throwable e) {
                sum = sum * 31 + e.getMessage().hashCode();
            }
        }
        return sum;
    }

    /** The end of a shape in whose handler a hook throws. */
    static String tripped(Shape shape) {
        armed = true;
        String end;
        try {
            end = "answers " + shape.run(1);
        } catch (Throwable e) {
            end = "fails " + e.getMessage();
        }
        return end + (Thread.holdsLock(LOCK) ? ", locked" : ", unlocked") + (armed ? ", armed" : "");
    }

    public static void main(String[] args) {
        StringBuilder out = new StringBuilder();
        for (int n = 0; n < SHAPES.length; n++) {
            work = 0;
            out.append("= ").append(NAMES[n]).append(' ').append(run(SHAPES[n])).append('\n');
        }
        out.append("# ").append(handlers).append(' ').append(thrown).append(' ').append(left).append('\n');
        if (args.length > 0) {
            out.append("! ").append(tripped(Handlers::locked)).append('\n');
        }
        System.out.print(out);
    }
}
