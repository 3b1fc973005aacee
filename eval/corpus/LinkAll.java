import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipFile;

/**
 * Loads and links every class of many jars, and with {@code --jdk} of the running JDK, without running any of them:
 * {@code java -Xverify:all LinkAll.java [--jdk] [LISTFILE_OF_JARS]}, the list with one jar a line.
 *
 * <p>Prints {@code class<TAB>error<TAB>first line of its message} for each class that does not link, sorted, and then
 * {@code classes N linked N problems N}. Some problems are normal, since no set of jars is complete. A run whose
 * classes were patched must print the same as a bare one: compare two runs with diff.
 *
 * <p>Linking is where HotSpot verifies. It leaves out the JDK's own classes unless {@code -Xverify:all} is given, and
 * without {@code --add-modules ALL-SYSTEM} some modules of the JDK cannot be loaded.
 */
public final class LinkAll {
    private final TreeSet<String> problems = new TreeSet<>();
    private int classes;
    private int linked;

    public static void main(String[] args) throws IOException {
        boolean jdk = false;
        String list = null;
        for (String arg : args) {
            if (arg.equals("--jdk")) {
                jdk = true;
            } else if (list == null && !arg.startsWith("-")) {
                list = arg;
            } else {
                usage();
            }
        }
        if (list == null && !jdk) {
            usage();
        }
        LinkAll all = new LinkAll();
        if (list != null) {
            all.linkJars(list);
        }
        if (jdk) {
            all.linkJdk();
        }
        all.problems.forEach(System.out::println);
        System.out.println("classes " + all.classes + " linked " + all.linked + " problems " + all.problems.size());
    }

    private static void usage() {
        System.err.println("usage: LinkAll [--jdk] [LISTFILE_OF_JARS]");
        System.exit(64);
    }

    private void linkJars(String list) throws IOException {
        JarLoader loader = new JarLoader();
        for (String line : Files.readAllLines(Paths.get(list))) {
            File jar = new File(line.trim());
            if (line.isBlank()) {
                continue;
            }
            try {
                loader.add(jar);
            } catch (IOException e) {
                problem(jar.getName(), e, message(e));
            }
        }
        // Sorted, not in the order of the jars: what is loaded first can change which error another class gets.
        for (String name : loader.jars.keySet()) {
            link(name, () -> Class.forName(name, false, loader));
        }
    }

    /**
     * One loader over all jars, so that they see one another; of two classes with one name the first is taken. A
     * URLClassLoader does the same but asks jar after jar for every class, which takes minutes over hundreds of jars,
     * and refuses packages that one jar has signed and another has not. The parent knows the JDK but not this program.
     */
    private static final class JarLoader extends ClassLoader {
        private final TreeMap<String, JarFile> jars = new TreeMap<>();

        JarLoader() {
            super(ClassLoader.getPlatformClassLoader());
        }

        void add(File file) throws IOException {
            // Takes what is below META-INF/versions for this JVM in place of the entry of the same name.
            JarFile jar = new JarFile(file, false, ZipFile.OPEN_READ, Runtime.version());
            jar.stream()
                    .map(entry -> entry.getName())
                    .filter(name -> !name.startsWith("META-INF/"))
                    .map(LinkAll::className)
                    .flatMap(Optional::stream)
                    .forEach(name -> jars.putIfAbsent(name, jar));
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            JarFile jar = jars.get(name);
            if (jar == null) {
                throw new ClassNotFoundException(name);
            }
            try (InputStream in = jar.getInputStream(jar.getEntry(name.replace('.', '/') + ".class"))) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    private void linkJdk() throws IOException {
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        List<Path> sorted;
        try (Stream<Path> list = Files.list(modules)) {
            sorted = list.sorted().collect(Collectors.toList());
        }
        for (Path path : sorted) {
            String moduleName = path.getFileName().toString();
            Optional<Module> module = ModuleLayer.boot().findModule(moduleName);
            if (!module.isPresent()) {
                problems.add("module " + moduleName + "\tnot in the boot layer\tuse --add-modules ALL-SYSTEM");
                continue;
            }
            List<String> names;
            try (Stream<Path> files = Files.walk(path)) {
                names = files.map(file -> className(path.relativize(file).toString()))
                        .flatMap(Optional::stream)
                        .sorted()
                        .collect(Collectors.toList());
            }
            for (String name : names) {
                link(name, () -> {
                    Class<?> found = Class.forName(module.get(), name);
                    if (found == null) {
                        throw new ClassNotFoundException(name);
                    }
                    return found;
                });
            }
        }
    }

    private static Optional<String> className(String path) {
        if (!path.endsWith(".class") || path.endsWith("module-info.class")) {
            return Optional.empty();
        }
        return Optional.of(path.substring(0, path.length() - ".class".length()).replace('/', '.'));
    }

    private interface Load {
        Class<?> load() throws Throwable;
    }

    private void link(String name, Load load) {
        classes++;
        Class<?> loaded;
        try {
            loaded = load.load();
        } catch (Throwable e) {
            problem(name, e, message(e));
            return;
        }
        try {
            // HotSpot links the class before it looks up the parameter types, and runs no initialiser.
            loaded.getDeclaredConstructors();
            linked++;
        } catch (NoClassDefFoundError e) {
            // HotSpot goes through the methods in the order of addresses in its memory, so which of several missing
            // classes it meets first differs from run to run.
            problem(name, e, "(a class that it names)");
        } catch (Throwable e) {
            problem(name, e, message(e));
        }
    }

    private static String message(Throwable e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("")
                .replace('\t', ' ')
                // Some messages name a loader with its identity hash, which differs from run to run.
                .replaceAll("@(0x)?[0-9a-f]+", "@");
    }

    private void problem(String name, Throwable e, String message) {
        problems.add(name + "\t" + e.getClass().getName() + "\t" + message);
    }
}
