package outbox;

import java.util.List;

/** Sends batches of messages. A batch of which a message was refused is sent again, all of it. */
final class Sender {
    private final Gateway gateway;
    private final int retries;

    Sender(Gateway gateway, int retries) {
        this.gateway = gateway;
        this.retries = retries;
    }

    /** Tests whether every message of the batch was delivered in the end. */
    boolean send(List<String> batch) {
        int left = retries;
        int refused = deliver(batch);
        while (refused > 0 && left > 0) {
            left--;
            refused = deliver(batch);
        }
        return refused == 0;
    }

    /** Delivers a batch under one permit. Gives the number of messages that were refused. */
    private int deliver(List<String> batch) {
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
