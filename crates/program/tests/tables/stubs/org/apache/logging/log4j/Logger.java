package org.apache.logging.log4j;

import org.apache.logging.log4j.util.Supplier;

/** A stand-in with the names and descriptors of the real interface. */
public interface Logger {
    void trace(String message);

    void trace(Object message);

    void trace(String message, Object p0);

    void trace(String message, Object p0, Object p1);

    void trace(String message, Object p0, Object p1, Object p2);

    void trace(String message, Object... params);

    void trace(String message, Throwable t);

    void trace(Object message, Throwable t);

    void trace(Supplier<?> supplier);

    void trace(Supplier<?> supplier, Throwable t);

    void trace(String message, Supplier<?>... suppliers);

    void trace(Marker marker, String message);

    void trace(Marker marker, String message, Object p0);

    void debug(String message);

    void debug(Object message);

    void debug(String message, Object p0);

    void debug(String message, Object p0, Object p1);

    void debug(String message, Object p0, Object p1, Object p2);

    void debug(String message, Object... params);

    void debug(String message, Throwable t);

    void debug(Object message, Throwable t);

    void debug(Supplier<?> supplier);

    void debug(Supplier<?> supplier, Throwable t);

    void debug(String message, Supplier<?>... suppliers);

    void debug(Marker marker, String message);

    void debug(Marker marker, String message, Object p0);

    void info(String message);

    void info(Object message);

    void info(String message, Object p0);

    void info(String message, Object p0, Object p1);

    void info(String message, Object p0, Object p1, Object p2);

    void info(String message, Object... params);

    void info(String message, Throwable t);

    void info(Object message, Throwable t);

    void info(Supplier<?> supplier);

    void info(Supplier<?> supplier, Throwable t);

    void info(String message, Supplier<?>... suppliers);

    void info(Marker marker, String message);

    void info(Marker marker, String message, Object p0);

    void warn(String message);

    void warn(Object message);

    void warn(String message, Object p0);

    void warn(String message, Object p0, Object p1);

    void warn(String message, Object p0, Object p1, Object p2);

    void warn(String message, Object... params);

    void warn(String message, Throwable t);

    void warn(Object message, Throwable t);

    void warn(Supplier<?> supplier);

    void warn(Supplier<?> supplier, Throwable t);

    void warn(String message, Supplier<?>... suppliers);

    void warn(Marker marker, String message);

    void warn(Marker marker, String message, Object p0);

    void error(String message);

    void error(Object message);

    void error(String message, Object p0);

    void error(String message, Object p0, Object p1);

    void error(String message, Object p0, Object p1, Object p2);

    void error(String message, Object... params);

    void error(String message, Throwable t);

    void error(Object message, Throwable t);

    void error(Supplier<?> supplier);

    void error(Supplier<?> supplier, Throwable t);

    void error(String message, Supplier<?>... suppliers);

    void error(Marker marker, String message);

    void error(Marker marker, String message, Object p0);

    void fatal(String message);

    void fatal(Object message);

    void fatal(String message, Object p0);

    void fatal(String message, Object p0, Object p1);

    void fatal(String message, Object p0, Object p1, Object p2);

    void fatal(String message, Object... params);

    void fatal(String message, Throwable t);

    void fatal(Object message, Throwable t);

    void fatal(Supplier<?> supplier);

    void fatal(Supplier<?> supplier, Throwable t);

    void fatal(String message, Supplier<?>... suppliers);

    void fatal(Marker marker, String message);

    void fatal(Marker marker, String message, Object p0);

    void log(Level level, String message);

    void log(Level level, String message, Object p0);

    void log(Level level, String message, Throwable t);

    void printf(Level level, String format, Object... params);

    boolean isDebugEnabled();
}
