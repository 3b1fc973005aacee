package balancer;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** Many regions are opened at once, on any host. */
public class CloneTablesTest {
    @Test
    public void clonedTablesAreOpen() throws Exception {
        try (MiniCluster cluster = new MiniCluster("hosts=12")) {
            cluster.waitActive();
            assertEquals(60, cluster.open("clone", 1, 60));
        }
    }
}
