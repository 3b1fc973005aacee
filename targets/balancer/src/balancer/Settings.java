package balancer;

import java.io.IOException;
import java.io.Reader;
import java.util.Properties;

/**
 * Settings of a cluster: its hosts; whether regions have favored hosts; whether the master gives a region up that cannot be
 * placed; and the regions that are open from the start.
 */
record Settings(int hosts, boolean favored, boolean failFast, int open) {
    static Settings read(Reader reader) throws IOException, SettingsException {
        Properties given = new Properties();
        given.load(reader);
        return new Settings(
                number(given, "hosts"),
                Boolean.parseBoolean(given.getProperty("favored")),
                Boolean.parseBoolean(given.getProperty("failFast")),
                number(given, "open"));
    }

    private static int number(Properties given, String name) throws SettingsException {
        int number = Integer.parseInt(given.getProperty(name, "0"));
        if (number < 0) {
            throw new SettingsException(name + " is negative");
        }
        return number;
    }
}
