package balancer;

/** A setting cannot be used. */
final class SettingsException extends Exception {
    SettingsException(String message) {
        super(message);
    }
}
