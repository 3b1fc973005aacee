package org.apache.log4j;

public class Level extends Priority {
    public static final Level TRACE = new Level();
    public static final Level DEBUG = new Level();
    public static final Level INFO = new Level();
    public static final Level WARN = new Level();
    public static final Level ERROR = new Level();
    public static final Level FATAL = new Level();
}
