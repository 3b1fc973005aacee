package balancer;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** What a master that starts again finds. */
public class ProcedureLogTest {
    @Test
    public void openedRegionsAreInTheLog() throws Exception {
        try (MiniCluster cluster = new MiniCluster("hosts=2\nopen=4")) {
            cluster.waitActive();
            assertEquals(3, cluster.open("t", 1, 3));
            assertEquals(7, cluster.logged().size());
            assertEquals("t,3", cluster.logged().get(6).name());
        }
    }
}
