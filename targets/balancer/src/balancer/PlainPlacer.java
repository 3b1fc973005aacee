package balancer;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Spreads regions over all hosts. A host that does not do as asked may do so the next time. */
final class PlainPlacer implements Placer {
    private final List<RegionHost> hosts = new CopyOnWriteArrayList<>();

    @Override
    public RegionHost choose(Region region) {
        return hosts.get(Math.floorMod(region.number(), hosts.size()));
    }

    @Override
    public boolean canPlace() {
        return !hosts.isEmpty();
    }

    @Override
    public void join(RegionHost host) {
        hosts.add(host);
    }

    @Override
    public void exclude(RegionHost host) {}
}
