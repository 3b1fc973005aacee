import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/** Calls the static method run(int) of a class in each folder given, with 0 to 6. */
public class Runner {
    public static void main(String[] args) throws Exception {
        for (int i = 1; i < args.length; i++) {
            URL[] urls = {Path.of(args[i]).toUri().toURL()};
            try (URLClassLoader loader = new URLClassLoader(urls)) {
                Method run = Class.forName(args[0], true, loader).getMethod("run", int.class);
                StringBuilder line = new StringBuilder();
                for (int n = 0; n < 7; n++) {
                    line.append(run.invoke(null, n)).append(' ');
                }
                System.out.println(line.toString().trim());
            }
        }
    }
}
