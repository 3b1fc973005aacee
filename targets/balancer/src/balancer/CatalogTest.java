package balancer;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** The catalogue is written anew. */
public class CatalogTest {
    @Test
    public void everyRowIsWritten() throws Exception {
        try (MiniCluster cluster = new MiniCluster("hosts=12\nopen=6")) {
            cluster.waitActive();
            assertEquals(60, cluster.record("old", 1, 60));
        }
    }
}
