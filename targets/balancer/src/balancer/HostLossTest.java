package balancer;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** A host is lost, while there are never fewer than three. The first region that is not placed ends the test. */
public class HostLossTest {
    @Test
    public void regionsOfALostHostAreMoved() throws Exception {
        try (MiniCluster cluster = new MiniCluster("hosts=3\nfavored=true\nfailFast=true")) {
            cluster.waitActive();
            assertEquals(4, cluster.open("t", 1, 2) + cluster.open("t", 3, 4));
            cluster.join("h4");
            assertEquals(1, cluster.lose("h3"));
            assertEquals(2, cluster.open("t", 5, 6));
        }
    }
}
