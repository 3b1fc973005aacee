package emission;

import java.util.logging.Level;
import java.util.logging.Logger;

/** As {@link Emits}, by java.util.logging. */
public final class EmitsJul {
    private EmitsJul() {}

    public static void main(String[] args) {
        Logger loud = Logger.getLogger("loud");
        Logger quiet = Logger.getLogger("quiet");
        quiet.setLevel(Level.WARNING);
        for (int i = 0; i < 40; i++) {
            Logger either = i % 4 == 3 ? loud : quiet;
            either.log(Level.INFO, "line of either, number {0}", i);
            loud.log(Level.FINE, "line that nobody sees, number {0}", i);
            quiet.log(Level.WARNING, "line of the quiet one, number {0}", i);
        }
    }
}
