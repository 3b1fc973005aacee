package shapes;

/** Calls one site ARGS[0] times and prints, for each call, what it threw with every frame of its stack trace. */
public class Main {
    static void site() throws Throwable {
        callee(); // site: throw
    }

    static void callee() {}

    public static void main(String[] args) {
        for (int round = 1; round <= Integer.parseInt(args[0]); round++) {
            try {
                site();
                System.out.println("round " + round + ": fine");
            } catch (Throwable e) {
                System.out.println("round " + round + ": " + e);
                for (StackTraceElement frame : e.getStackTrace()) {
                    System.out.println("  at " + frame);
                }
            }
        }
    }
}
