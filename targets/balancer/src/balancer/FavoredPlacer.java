package balancer;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Keeps three favored hosts for each region, and so needs three. A host that does not do as asked is excluded. */
final class FavoredPlacer implements Placer {
    private static final Logger LOG = Logger.getLogger(FavoredPlacer.class.getName());
    private static final int FAVORED = 3;

    private final List<RegionHost> usable = new CopyOnWriteArrayList<>();

    @Override
    public RegionHost choose(Region region) {
        List<RegionHost> now = List.copyOf(usable);
        return now.get(Math.floorMod(region.number(), now.size()));
    }

    @Override
    public boolean canPlace() {
        return usable.size() >= FAVORED;
    }

    @Override
    public void join(RegionHost host) {
        usable.add(host);
    }

    @Override
    public void exclude(RegionHost host) {
        // The last one is better than none.
        if (usable.size() > 1 && usable.remove(host)) {
            LOG.log(Level.WARNING, "{0} is excluded", host.name());
        }
    }
}
