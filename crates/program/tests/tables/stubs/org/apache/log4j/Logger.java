package org.apache.log4j;

public class Logger extends Category {
    public static Logger getLogger(Class<?> type) {
        return null;
    }

    public static Logger getLogger(String name) {
        return null;
    }

    public void trace(Object message) {}

    public void trace(Object message, Throwable t) {}
}
