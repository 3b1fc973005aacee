package outbox;

import java.util.Collections;
import java.util.List;

/** A test: many messages at once. A message that is refused is not sent again. */
final class Newsletter {
    private Newsletter() { }

    public static void main(String[] args) {
        List<String> batch = Collections.nCopies(60, "news");
        Gateway gateway = new Gateway();
        boolean isSent = new Sender(gateway, 0).send(batch);
        System.out.println(gateway.delivered() + " of " + batch.size() + " delivered");
        System.exit(isSent ? 0 : 1);
    }
}
