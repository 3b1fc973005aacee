import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Links every class of each file given (run with -Xverify:all) and prints for each file how many there were and
 * what went wrong. Entries: name, length, bytes.
 */
public class Verify {
    static class Loader extends ClassLoader {
        final Map<String, byte[]> classes;

        Loader(Map<String, byte[]> classes) {
            super(Verify.class.getClassLoader());
            this.classes = classes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                if (known != null) {
                    return known;
                }
                byte[] bytes = classes.get(name);
                return bytes == null ? super.loadClass(name, resolve) : defineClass(name, bytes, 0, bytes.length);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        for (String file : args) {
            Map<String, byte[]> classes = new LinkedHashMap<>();
            try (DataInputStream in = new DataInputStream(new BufferedInputStream(
                    Files.newInputStream(Path.of(file))))) {
                while (true) {
                    String name;
                    try {
                        name = in.readUTF();
                    } catch (EOFException end) {
                        break;
                    }
                    byte[] bytes = new byte[in.readInt()];
                    in.readFully(bytes);
                    classes.put(name.replace('/', '.'), bytes);
                }
            }
            Loader loader = new Loader(classes);
            int linked = 0;
            System.out.println("file");
            for (String name : classes.keySet()) {
                try {
                    Class<?> type = Class.forName(name, false, loader);
                    // Reflection links the class, which verifies it, and runs none of its code.
                    type.getDeclaredConstructors();
                    type.getDeclaredMethods();
                    linked++;
                } catch (Throwable error) {
                    // The identity of the loader's module differs from file to file.
                    String text = String.valueOf(error.getMessage()).replaceAll("@(0x)?[0-9a-f]+", "@");
                    System.out.println(name + " " + error.getClass().getName() + " " + text.replace('\n', ' '));
                }
            }
            System.out.println("linked " + linked);
        }
    }
}
