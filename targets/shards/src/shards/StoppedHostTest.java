package shards;

import static org.junit.Assert.assertEquals;

import java.util.List;
import org.junit.Test;

/** A host crashes, and the others take its shards. */
public class StoppedHostTest {
    @Test
    public void shardsOfACrashedHostAreMoved() throws Exception {
        try (MiniCell cell = new MiniCell("hosts=4\nloaded=12")) {
            cell.waitActive();
            cell.rounds(1);
            cell.stop("h4");
            cell.rounds(3);
            assertEquals(List.of("h1 shards=4 load=40", "h2 shards=4 load=40", "h3 shards=4 load=40"), cell.status());
            assertEquals(2, cell.audit().size());
        }
    }
}
