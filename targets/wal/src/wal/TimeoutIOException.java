package wal;

import java.io.IOException;

/** Somebody waited as long as the configuration allows and gave up. */
final class TimeoutIOException extends IOException {
    private static final long serialVersionUID = 1;

    TimeoutIOException(String message) {
        super(message);
    }
}
