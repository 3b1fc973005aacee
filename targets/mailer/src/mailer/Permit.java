package mailer;

import java.time.Duration;

/** The permission to deliver messages, for a short time. */
final class Permit {
    private static final Duration VALID = Duration.ofMillis(300);

    private final long since = System.nanoTime();

    boolean hasExpired() {
        return System.nanoTime() - since > VALID.toNanos();
    }
}
