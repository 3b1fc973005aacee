package shards;

import java.io.IOException;
import java.io.Reader;
import java.util.Properties;
import java.util.Set;

/** Size of a cell, from properties such as {@code hosts=4}. */
record CellConfig(int hosts, int loaded, int idle) {
    private static final Set<String> KNOWN = Set.of("hosts", "loaded", "idle");

    static CellConfig read(Reader reader) throws IOException, CellException {
        Properties given = new Properties();
        given.load(reader);
        for (String name : given.stringPropertyNames()) {
            if (!KNOWN.contains(name)) {
                throw new CellException("unknown setting " + name);
            }
        }
        return new CellConfig(number(given, "hosts"), number(given, "loaded"), number(given, "idle"));
    }

    private static int number(Properties given, String name) throws CellException {
        String text = given.getProperty(name, "0");
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new CellException(name + " is no number: " + text);
        }
    }
}
