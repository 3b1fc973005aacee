package emission;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs through slf4j, to whatever is behind it: more often than it is let through, and by the same statement both ways. */
public final class Emits {
    private Emits() {}

    public static void main(String[] args) {
        Logger loud = LoggerFactory.getLogger("loud");
        Logger quiet = LoggerFactory.getLogger("quiet");
        for (int i = 0; i < 40; i++) {
            Logger either = i % 4 == 3 ? loud : quiet;
            either.info("line of either, number {}", i);
            loud.debug("line that nobody sees, number {}", i);
            quiet.warn("line of the quiet one, number {}", i);
        }
    }
}
