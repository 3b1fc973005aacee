package hypocenter.eval;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/**
 * Runs JUnit 4 tests and prints a result that two runs can be compared by: {@code RunTests CLASS|@FILE ...}
 *
 * <p>One line a test method, {@code Class.method PASS|FAIL|IGNORED|ASSUMPTION}, sorted, with no times, ids or ports.
 * Classes run one after the other in this JVM; for a JVM each, start the program once a class. {@code @FILE} names a
 * file with one class a line, {@code #} starts a comment. Everything else (logs, traces, what the tests print) goes
 * to stderr. The exit status is 0 if nothing failed, 1 if something did, 2 if a class took too long.
 */
public final class RunTests {
    private static final int CLASS_LIMIT_MS = 120_000;

    private RunTests() {}

    public static void main(String[] args) throws IOException {
        TreeSet<String> names = new TreeSet<>();
        for (String arg : args) {
            if (arg.startsWith("@")) {
                for (String line : Files.readAllLines(Paths.get(arg.substring(1)))) {
                    names.add(line.replaceFirst("#.*", "").trim());
                }
            } else {
                names.add(arg);
            }
        }
        names.remove("");
        if (names.isEmpty()) {
            System.err.println("usage: RunTests CLASS|@FILE ...");
            System.exit(64);
        }
        // Tests print to System.out as well; the results must be alone there.
        PrintStream out = System.out;
        System.setOut(System.err);
        boolean failed = false;
        for (String name : names) {
            System.err.println("=== " + name);
            Results results = run(name);
            // Printed class by class, so that a test which takes the JVM down does not take the results with it.
            results.print(out);
            failed |= results.lines.containsValue("FAIL");
        }
        // Tests leave servers and other threads behind that would keep the JVM alive.
        Runtime.getRuntime().halt(failed ? 1 : 0);
    }

    private static Results run(String name) {
        Results results = new Results(name);
        Thread limit = limit(name);
        try {
            JUnitCore core = new JUnitCore();
            core.addListener(results);
            core.run(Class.forName(name));
        } catch (Throwable e) {
            // A class that cannot be loaded or linked is a result like any other.
            results.put("(class)", "FAIL");
            e.printStackTrace();
        } finally {
            limit.interrupt();
        }
        return results;
    }

    private static Thread limit(String name) {
        Thread thread = new Thread(() -> {
            try {
                Thread.sleep(CLASS_LIMIT_MS);
            } catch (InterruptedException e) {
                return;
            }
            System.err.println("RunTests: " + name + " took more than " + CLASS_LIMIT_MS + " ms");
            Runtime.getRuntime().halt(2);
        }, "limit");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static final class Results extends RunListener {
        private final String className;
        private final Map<String, String> lines = new TreeMap<>();

        Results(String className) {
            this.className = className;
        }

        synchronized void put(String method, String result) {
            // JUnit reports a failure, maybe a second one from @After, and then the end: the worst counts.
            lines.merge(method, result, (old, now) -> rank(now) > rank(old) ? now : old);
        }

        private static int rank(String result) {
            switch (result) {
                case "FAIL": return 3;
                case "ASSUMPTION": return 2;
                case "IGNORED": return 1;
                default: return 0;
            }
        }

        /** A failure of the class as a whole (@BeforeClass, a missing method) has no method name. */
        private static String method(Description description) {
            return description.getMethodName() == null ? "(class)" : description.getMethodName();
        }

        synchronized void print(PrintStream out) {
            lines.forEach((method, result) -> out.println(className + "." + method + " " + result));
            out.flush();
        }

        @Override
        public void testFinished(Description description) {
            put(method(description), "PASS");
        }

        @Override
        public void testFailure(Failure failure) {
            put(method(failure.getDescription()), "FAIL");
            System.err.println("--- " + failure.getTestHeader());
            System.err.println(failure.getTrace());
        }

        @Override
        public void testAssumptionFailure(Failure failure) {
            put(method(failure.getDescription()), "ASSUMPTION");
        }

        @Override
        public void testIgnored(Description description) {
            put(method(description), "IGNORED");
        }
    }
}
