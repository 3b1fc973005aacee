package quorum;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;

/** One line a record on stdout: time, level, [thread], logger, message; a stack trace follows where there is one. */
final class Logs extends Formatter {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss,SSS").withZone(ZoneOffset.UTC);

    private Logs() {}

    static void setUp() {
        Handler handler =
                new StreamHandler(System.out, new Logs()) {
                    @Override
                    public synchronized void publish(LogRecord line) {
                        super.publish(line);
                        flush();
                    }
                };
        Logger root = Logger.getLogger("");
        for (Handler other : root.getHandlers()) {
            root.removeHandler(other);
        }
        root.addHandler(handler);
    }

    /** The handler formats on the thread that logs, so the current thread is the one to name. */
    @Override
    public String format(LogRecord line) {
        StringWriter text = new StringWriter();
        text.append(TIME.format(Instant.ofEpochMilli(line.getMillis())))
                .append(' ')
                .append(level(line.getLevel()))
                .append(" [")
                .append(Thread.currentThread().getName())
                .append("] ")
                .append(line.getLoggerName())
                .append(" - ")
                .append(formatMessage(line))
                .append('\n');
        if (line.getThrown() != null) {
            line.getThrown().printStackTrace(new PrintWriter(text, true));
        }
        return text.toString();
    }

    private static String level(Level level) {
        if (level == Level.SEVERE) {
            return "ERROR";
        }
        return level == Level.WARNING ? "WARN " : "INFO ";
    }
}
