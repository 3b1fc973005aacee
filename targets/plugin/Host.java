package plugin;

import java.net.URL;
import java.net.URLClassLoader;

/** Runs a plugin by a loader that looks at its own classes first, so every class of the plugin is there twice. */
public class Host {
    private static class ChildFirst extends URLClassLoader {
        ChildFirst(URL[] urls) { super(urls, Host.class.getClassLoader()); }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
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
        try (URLClassLoader loader = new ChildFirst(new URL[] {own})) {
            Class<?> plugin = loader.loadClass("plugin.Plugin");
            if (plugin == Plugin.class) {
                throw new AssertionError("the loader is not child first");
            }
            plugin.getMethod("run").invoke(null);
        }
    }
}
