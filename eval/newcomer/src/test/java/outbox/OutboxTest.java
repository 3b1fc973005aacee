package outbox;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutboxTest {
    @TempDir
    Path directory;

    @Test
    void keepsEveryMessage() throws Exception {
        int lost;
        try (Outbox outbox = new Outbox(directory)) {
            for (int number = 1; number <= 200; number++) {
                outbox.put("message-" + number);
            }
            lost = outbox.lost();
        }
        assertEquals(0, lost);
    }
}
