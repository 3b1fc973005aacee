package balancer;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Hosts of the regions. */
final class Locations {
    private final Map<Region, Plan> plans = new ConcurrentHashMap<>();

    void planned(Plan plan) {
        plans.put(plan.request().region(), plan);
    }

    void forget(Region region) {
        plans.remove(region);
    }

    Plan find(Region region) throws UnknownRegionException {
        Plan plan = plans.get(region);
        if (plan == null) {
            throw new UnknownRegionException(region.name() + " is nowhere");
        }
        return plan;
    }

    List<Region> on(RegionHost host) {
        return plans.values().stream().filter(it -> it.host() == host).map(it -> it.request().region()).toList();
    }
}
