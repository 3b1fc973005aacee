package forker;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/**
 * Starts a JVM as Gradle starts its test workers: with the environment that it has itself, and with pipes whose content it
 * passes on. `Forker apart FILE` keeps the two outputs apart, `Forker joined FILE` joins them.
 */
public final class Forker {
    public static void main(String[] args) throws Exception {
        boolean joined = args[0].equals("joined");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classPath = System.getProperty("java.class.path");
        System.out.println("forker: starting a worker");
        Process process = new ProcessBuilder(java, "-cp", classPath, "worker.Worker", args[1])
                .redirectErrorStream(joined)
                .start();
        process.getOutputStream().close();
        Thread err = new Thread(() -> copy(process.getErrorStream(), System.err));
        err.start();
        copy(process.getInputStream(), System.out);
        err.join();
        int status = process.waitFor();
        System.out.println("forker: the worker ended with " + status);
        System.exit(status);
    }

    private static void copy(InputStream from, OutputStream to) {
        try {
            from.transferTo(to);
            to.flush();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
