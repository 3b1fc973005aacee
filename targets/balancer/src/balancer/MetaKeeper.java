package balancer;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Logger;

/** Keeps the catalogue: for each region that changed, has the part of the catalogue with its row opened anew. */
final class MetaKeeper implements Runnable {
    private static final Logger LOG = Logger.getLogger(MetaKeeper.class.getName());

    /** The catalogue may lie anywhere. */
    private final Placer placer = new PlainPlacer();
    private final BlockingQueue<List<Plan>> pending = new LinkedBlockingQueue<>();

    void join(RegionHost host) {
        placer.join(host);
    }

    List<Request> record(List<Region> changed) {
        List<Request> opens = changed.stream().map(it -> Request.open(it.row())).toList();
        pending.add(opens.stream().map(it -> new Plan(it, placer.choose(it.region()))).toList());
        return opens;
    }

    @Override
    public void run() {
        try {
            while (true) {
                for (Plan open : pending.take()) {
                    open.send();
                }
            }
        } catch (InterruptedException e) {
            LOG.fine("the keeper of the catalogue ends");
        }
    }
}
