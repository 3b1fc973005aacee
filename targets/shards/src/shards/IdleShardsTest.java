package shards;

import static org.junit.Assert.assertEquals;

import java.util.List;
import org.junit.Test;

/** A cell whose shards are mostly idle. */
public class IdleShardsTest {
    @Test
    public void idleShardsStayWhereTheyAre() throws Exception {
        try (MiniCell cell = new MiniCell("hosts=4\nloaded=8\nidle=60")) {
            cell.waitActive();
            cell.rounds(5);
            assertEquals(
                    List.of("h1 shards=62 load=20", "h2 shards=2 load=20", "h3 shards=2 load=20", "h4 shards=2 load=20"),
                    cell.status());
            assertEquals("h1", cell.hostOf(68));
        }
    }
}
