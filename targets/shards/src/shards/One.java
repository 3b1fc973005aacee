package shards;

import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;

/** Runs one test method: {@code One CLASS METHOD}. The exit status is 0 if it passes, else 1. */
final class One {
    private One() {}

    public static void main(String[] args) throws ClassNotFoundException {
        Logging.install();
        Result result = new JUnitCore().run(Request.method(Class.forName(args[0]), args[1]));
        result.getFailures().forEach(it -> System.out.println(it.getTestHeader() + ": " + it.getTrace()));
        // Nothing that a test left behind may hold up the end.
        System.exit(result.wasSuccessful() ? 0 : 1);
    }
}
