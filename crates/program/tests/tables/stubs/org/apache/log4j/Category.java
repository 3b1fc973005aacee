package org.apache.log4j;

/** A stand-in with the names and descriptors of the real class. */
public class Category {
    public void debug(Object message) {}

    public void debug(Object message, Throwable t) {}

    public void info(Object message) {}

    public void info(Object message, Throwable t) {}

    public void warn(Object message) {}

    public void warn(Object message, Throwable t) {}

    public void error(Object message) {}

    public void error(Object message, Throwable t) {}

    public void fatal(Object message) {}

    public void fatal(Object message, Throwable t) {}

    public void log(Priority priority, Object message) {}

    public void log(Priority priority, Object message, Throwable t) {}

    public boolean isDebugEnabled() {
        return false;
    }

    public boolean isInfoEnabled() {
        return false;
    }
}
