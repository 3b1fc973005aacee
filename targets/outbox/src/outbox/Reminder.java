package outbox;

import java.util.List;

/** A test: a few messages, which are sent again until they are delivered. */
final class Reminder {
    private Reminder() { }

    public static void main(String[] args) {
        List<String> batch = List.of("first", "second", "third", "fourth", "fifth");
        Gateway gateway = new Gateway();
        boolean isSent = new Sender(gateway, 3).send(batch);
        System.out.println(gateway.delivered() + " delivered for " + batch.size());
        System.exit(isSent ? 0 : 1);
    }
}
