package balancer;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** Regions have favored hosts. The test takes no longer than their limit. */
public class FavoredTest {
    private static final long LIMIT_MS = 900;

    @Test
    public void regionsAreOpenOnFavoredHosts() throws Exception {
        try (MiniCluster cluster = new MiniCluster("hosts=5\nfavored=true")) {
            cluster.waitActive();
            assertEquals(12, cluster.open("t", 1, 12, LIMIT_MS));
            assertEquals(12, cluster.close("t", 1, 12));
        }
    }
}
