package shards;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import org.junit.Test;

/** What a client is told of a cell. */
public class StatusTest {
    @Test
    public void clientsSeeEveryHost() throws Exception {
        try (MiniCell cell = new MiniCell("hosts=3\nloaded=6\nidle=3")) {
            cell.waitActive();
            for (int i = 0; i < 3; i++) {
                cell.rounds(1);
                assertEquals(cell.status(), cell.remoteStatus());
            }
            assertEquals(3, cell.status().size());
        }
    }

    @Test
    public void unknownSettingsAreRefused() {
        assertThrows(CellException.class, () -> new MiniCell("hosts=3\nspares=1"));
    }
}
