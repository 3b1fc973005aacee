package mailer;

import java.util.List;

/** Sends messages through a gateway. */
final class Mailer {
    private final Gateway gateway = new Gateway();
    private final Sender sender;

    Mailer(int retries) {
        sender = new Sender(gateway, retries);
    }

    /** Sends messages, and says what came of it. Gives an exit status. */
    int flush(List<String> messages) {
        int refused = sender.send(messages);
        System.out.println(gateway.delivered() + " deliveries for " + messages.size() + " messages");
        return refused == 0 ? 0 : 1;
    }
}
