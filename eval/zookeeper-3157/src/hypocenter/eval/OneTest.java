package hypocenter.eval;

import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;

/**
 * Runs one JUnit 4 test: {@code OneTest CLASS METHOD}. Exit status 0 if it passed, 1 if it failed. Tests leave servers behind, so
 * the JVM does not wait for its threads.
 */
public final class OneTest {
    private OneTest() {}

    public static void main(String[] args) throws ClassNotFoundException {
        if (args.length != 2) {
            System.err.println("usage: OneTest CLASS METHOD");
            System.exit(64);
        }
        Result result = new JUnitCore().run(Request.method(Class.forName(args[0]), args[1]));
        for (Failure failure : result.getFailures()) {
            System.out.println(failure.getTestHeader());
            System.out.println(failure.getTrace());
        }
        System.exit(result.wasSuccessful() && result.getRunCount() == 1 ? 0 : 1);
    }
}
