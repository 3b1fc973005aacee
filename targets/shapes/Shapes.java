package shapes;

import java.util.Objects;

/** Exceptions, one for each shape of constructor. What each says of itself shows with what it was constructed. */
public class Shapes {
    public static class Text extends Exception {
        public Text(String message) { super(message); }
    }

    public static class Nothing extends Exception {
        public Nothing() {}
    }

    public static class TextAndCause extends Exception {
        public TextAndCause(String message, Throwable cause) { super(message, cause); }
    }

    public static class Cause extends Exception {
        public Cause(Throwable cause) { super("cause " + cause); }
    }

    public static class Int extends Exception {
        public Int(int code) { super("code " + code); }
    }

    public static class Primitives extends Exception {
        public Primitives(int i, long j, boolean z, byte b, char c, short s, float f, double d) {
            super(i + " " + j + " " + z + " " + b + " " + (int) c + " " + s + " " + f + " " + d);
        }
    }

    public enum Code { FIRST, SECOND }

    public static class Enumerated extends Exception {
        public Enumerated(Code code) { super("code " + code.name()); }
    }

    public static class Array extends Exception {
        public Array(String[] texts, int[][] numbers) { super(texts.length + " texts, " + numbers.length + " numbers"); }
    }

    public static class Status {
        private final String text;
        private final int code;

        public Status(String text, int code) {
            this.text = Objects.requireNonNull(text);
            this.code = code;
        }

        @Override public String toString() { return "Status(" + text + ", " + code + ")"; }
    }

    /** Takes an object that must itself be constructed. */
    public static class Nested extends Exception {
        public Nested(Status status) { super(Objects.requireNonNull(status).toString()); }
    }

    public static class Interface extends Exception {
        public Interface(Runnable action) { super("action " + action); }
    }

    public static class Private extends Exception {
        private Private(String message) { super(message); }
    }

    /** Its first constructor fails on null; the second works. */
    public static class Picky extends Exception {
        public Picky(String message, Throwable cause) { super(message + cause.getMessage()); }

        public Picky(int code) { super("code " + code); }
    }

    /** Not static: its constructor takes the object around it. */
    public class Inner extends Exception {
        public Inner(String message) { super(message + " in " + (Shapes.this != null)); }
    }

    /** Without a stack trace of its own. */
    public static class Traceless extends Exception {
        public Traceless(String message) { super(message, null, false, false); }
    }

    public abstract static class Base extends Exception {
        protected Base(String message) { super(message); }
    }

    public static class Derived extends Base {
        public Derived(String message) { super(message); }
    }

    /** Comes by the very site where it is to be thrown. */
    public static class Entangled extends Exception {
        public Entangled(String message) throws Throwable {
            super(message);
            Main.site();
        }
    }

    /** Cannot be initialised. */
    public static class Broken extends Exception {
        private static final int NUMBER = Integer.parseInt("none");

        public Broken(String message) { super(message + NUMBER); }
    }

    /** Cannot be constructed: no constructor accepts what can be made up for it. */
    public static class Unwilling extends Exception {
        public Unwilling(int code) {
            super("code " + code);
            throw new IllegalArgumentException("never");
        }
    }
}
