package mailer;

import java.util.List;

/** A test: a few messages. If one is refused, all of them are sent again. */
final class Reminder {
    private Reminder() { }

    public static void main(String[] args) {
        System.exit(new Mailer(3).flush(List.of("first", "second", "third", "fourth", "fifth")));
    }
}
