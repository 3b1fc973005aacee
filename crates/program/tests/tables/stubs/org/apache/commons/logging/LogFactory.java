package org.apache.commons.logging;

public abstract class LogFactory {
    public static Log getLog(Class<?> type) {
        return null;
    }
}
