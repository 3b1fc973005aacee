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
            List<String> before = cell.status();
            String host = cell.hostOf(68);
            cell.rounds(5);
            assertEquals(4, before.size());
            assertEquals(before, cell.status());
            assertEquals(host, cell.hostOf(68));
        }
    }
}
