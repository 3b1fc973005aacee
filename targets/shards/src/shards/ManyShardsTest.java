package shards;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.List;
import org.junit.Test;

/** A cell with as many loaded shards as two hosts can serve. */
public class ManyShardsTest {
    @Test
    public void loadedShardsAreReportedInEachRound() throws Exception {
        try (MiniCell cell = new MiniCell("hosts=2\nloaded=2000")) {
            cell.waitActive();
            cell.rounds(1);
            assertEquals(List.of("h1 shards=1000 load=10000", "h2 shards=1000 load=10000"), cell.status());
            assertTrue(cell.served(1) > 0);
        }
    }
}
