package plugin;

import java.net.URL;
import java.net.URLClassLoader;

/**
 * Runs a plugin by a loader that looks at its own classes first, so every class of the plugin is there twice. With the
 * argument "strict" the loader takes nothing from its parents but the classes that it must, those of java.*.
 */
public class Host {
    private static class ChildFirst extends URLClassLoader {
        private final boolean strict;

        ChildFirst(URL[] urls, boolean strict) {
            super(urls, Host.class.getClassLoader());
            this.strict = strict;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                if (strict && !name.startsWith("plugin.") && !name.startsWith("java.")) {
                    throw new ClassNotFoundException(name);
                }
                if (!name.startsWith("plugin.")) {
                    return super.loadClass(name, resolve);
                }
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : findClass(name);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        URL own = Host.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader loader = new ChildFirst(new URL[] {own}, args.length > 0 && args[0].equals("strict"))) {
            Class<?> plugin = loader.loadClass("plugin.Plugin");
            if (plugin == Plugin.class) {
                throw new AssertionError("the loader is not child first");
            }
            plugin.getMethod("run").invoke(null);
        }
    }
}
