package mailer;

/** A message came after its permit had expired. */
final class ExpiredException extends Exception {
    private static final long serialVersionUID = 1;

    ExpiredException(String message) {
        super(message);
    }
}
