package spool;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** One line a record on stdout: time, level, thread, logger, message; a stack trace follows on lines of its own. */
final class Logging extends Handler {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss,SSS").withZone(ZoneId.systemDefault());

    private Logging() {}

    static void install() {
        Logger root = Logger.getLogger("");
        for (Handler handler : root.getHandlers()) {
            root.removeHandler(handler);
        }
        root.addHandler(new Logging());
    }

    @Override
    public void publish(LogRecord record) {
        StringWriter text = new StringWriter();
        text.append(TIME.format(Instant.ofEpochMilli(record.getMillis())))
                .append(' ').append(level(record.getLevel()))
                .append(" [").append(Thread.currentThread().getName()).append("] ")
                .append(record.getLoggerName()).append(": ")
                .append(record.getMessage()).append('\n');
        if (record.getThrown() != null) {
            record.getThrown().printStackTrace(new PrintWriter(text, true));
        }
        System.out.print(text);
    }

    private static String level(Level level) {
        return level == Level.SEVERE ? "ERROR" : level == Level.WARNING ? "WARN " : "INFO ";
    }

    @Override
    public void flush() {
        System.out.flush();
    }

    @Override
    public void close() {}
}
