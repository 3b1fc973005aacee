package org.slf4j;

import java.util.HashMap;
import java.util.Map;

/** The two methods of SLF4J's class of this name that programs use to say what a thread works for. */
public class MDC {
    private static final ThreadLocal<Map<String, String>> VALUES = ThreadLocal.withInitial(HashMap::new);

    public static void put(String key, String value) {
        VALUES.get().put(key, value);
    }

    public static String get(String key) {
        return VALUES.get().get(key);
    }
}
