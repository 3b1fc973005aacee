package chatter;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.logging.ConsoleHandler;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** One line a record on stderr: time, level, thread, logger, message; a stack trace follows on lines of its own. */
final class Logging extends Formatter {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss,SSS").withZone(ZoneId.systemDefault());

    private Logging() {}

    static void install() {
        Logger root = Logger.getLogger("");
        for (Handler handler : root.getHandlers()) {
            root.removeHandler(handler);
        }
        ConsoleHandler console = new ConsoleHandler();
        console.setFormatter(new Logging());
        console.setLevel(Level.ALL);
        root.addHandler(console);
    }

    @Override
    public String format(LogRecord record) {
        // The record is formatted by the thread that logs, so its name is at hand; a LogRecord has only a number.
        StringBuilder line = new StringBuilder()
                .append(TIME.format(Instant.ofEpochMilli(record.getMillis())))
                .append(' ').append(level(record.getLevel()))
                .append(" [").append(Thread.currentThread().getName()).append("] ")
                .append(record.getLoggerName()).append(": ")
                .append(formatMessage(record)).append('\n');
        if (record.getThrown() != null) {
            StringWriter trace = new StringWriter();
            record.getThrown().printStackTrace(new PrintWriter(trace, true));
            line.append(trace);
        }
        return line.toString();
    }

    private static String level(Level level) {
        if (level == Level.SEVERE) {
            return "ERROR";
        }
        return level == Level.WARNING ? "WARN " : level == Level.INFO ? "INFO " : "DEBUG";
    }
}
