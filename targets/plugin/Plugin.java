package plugin;

/** Catches its own exception, which it can only if the exception comes from its own loader. */
public class Plugin {
    static void act() throws PluginException {
        nothing();
    }

    static void nothing() {}

    public static void run() {
        try {
            act();
            System.out.println("fine");
        } catch (PluginException e) {
            System.out.println("caught its own: " + (e.getClass().getClassLoader() == Plugin.class.getClassLoader()));
        } catch (Throwable e) {
            System.out.println("caught a stranger: " + e + " of " + e.getClass().getClassLoader());
        }
    }
}
