package mailer;

import java.util.ArrayList;
import java.util.List;

/** The mail server's side: it takes messages under a permit. */
final class Gateway {
    private final List<String> delivered = new ArrayList<>();

    Permit permit() {
        return new Permit();
    }

    void deliver(String message, Permit permit) throws ExpiredException {
        if (permit.hasExpired()) {
            throw new ExpiredException(message + " came too late");
        }
        delivered.add(message);
    }

    int delivered() {
        return delivered.size();
    }
}
