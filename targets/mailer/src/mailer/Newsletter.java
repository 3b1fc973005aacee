package mailer;

import java.util.Collections;

/** A test: many messages at once. A message that is refused is not sent again. */
final class Newsletter {
    private Newsletter() { }

    public static void main(String[] args) {
        System.exit(new Mailer(0).flush(Collections.nCopies(60, "news")));
    }
}
