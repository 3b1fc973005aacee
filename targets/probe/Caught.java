package probe;

/** An exception in one line: class, message and innermost frame. */
public class Caught {
    public static String describe(Throwable e) {
        StackTraceElement[] trace = e.getStackTrace();
        String text = e.getClass().getName() + " '" + e.getMessage() + "'";
        for (StackTraceElement frame : trace) {
            if (frame.toString().toLowerCase().contains("hypocenter")) {
                text += " WITH OUR FRAME " + frame;
            }
        }
        return trace.length == 0 ? text + " nowhere" : text + " at " + trace[0].getMethodName() + ":" + trace[0].getLineNumber();
    }
}
