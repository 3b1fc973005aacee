package mailer;

import java.util.List;

/** Sends batches of messages. */
final class Sender {
    private final Gateway gateway;
    private final int retries;

    Sender(Gateway gateway, int retries) {
        this.gateway = gateway;
        this.retries = retries;
    }

    /** Sends a batch, and all of it again if a message of it was refused. Gives the number that is refused in the end. */
    int send(List<String> batch) {
        int refused = attempt(batch);
        for (int left = retries; refused > 0 && left > 0; left--) {
            refused = attempt(batch);
        }
        return refused;
    }

    /** Sends a batch once, under one permit. Gives the number of messages that were refused. */
    private int attempt(List<String> batch) {
        Permit permit = gateway.permit();
        int refused = 0;
        for (String message : batch) {
            try {
                gateway.deliver(message, permit);
            } catch (ExpiredException e) {
                System.err.println(e.getMessage());
                refused++;
            }
        }
        return refused;
    }
}
