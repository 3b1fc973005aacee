package balancer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Has regions opened: plans a host for each of a batch, and sends the requests. */
final class Assigner implements Runnable {
    private static final Logger LOG = Logger.getLogger(Assigner.class.getName());

    private final Placer placer;
    private final Releaser releaser;
    private final MetaKeeper keeper;
    private final Locations locations;
    private final boolean failFast;
    private final BlockingQueue<List<Request>> pending = new LinkedBlockingQueue<>();

    Assigner(Placer placer, Releaser releaser, MetaKeeper keeper, Locations locations, boolean failFast) {
        this.placer = placer;
        this.releaser = releaser;
        this.keeper = keeper;
        this.locations = locations;
        this.failFast = failFast;
    }

    void assign(List<Request> batch) {
        pending.add(batch);
    }

    @Override
    public void run() {
        try {
            while (true) {
                List<Request> batch = pending.take();
                List<Plan> plans = new ArrayList<>(batch.size());
                for (Request request : batch) {
                    plans.add(new Plan(request, placer.choose(request.region())));
                }
                if (placer.canPlace()) {
                    send(plans);
                } else if (failFast) {
                    batch.forEach(it -> it.done().complete(Outcome.UNPLACED));
                } else {
                    retry(plans);
                }
            }
        } catch (InterruptedException e) {
            LOG.fine("the assigner ends");
        }
    }

    private void send(List<Plan> plans) {
        plans.forEach(locations::planned);
        plans.forEach(Plan::send);
    }

    /** Takes the plans back, has the catalogue say so, and makes new ones at once. */
    private void retry(List<Plan> plans) {
        LOG.log(Level.WARNING, "{0} regions cannot be placed, trying again", plans.size());
        releaser.release(plans);
        keeper.record(plans.stream().map(it -> it.request().region()).toList());
        pending.add(plans.stream().map(it -> it.request().again()).toList());
    }
}
