package balancer;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** Many regions are closed at once. */
public class DropTablesTest {
    @Test
    public void regionsOfDroppedTablesAreClosed() throws Exception {
        try (MiniCluster cluster = new MiniCluster("hosts=12\nopen=60")) {
            cluster.waitActive();
            assertEquals(60, cluster.close("old", 1, 60));
        }
    }
}
