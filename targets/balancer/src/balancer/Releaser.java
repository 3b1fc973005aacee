package balancer;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Logger;

/** Has regions closed by the hosts that have them, or were to have them. */
final class Releaser implements Runnable {
    private static final Logger LOG = Logger.getLogger(Releaser.class.getName());

    private final BlockingQueue<List<Plan>> pending = new LinkedBlockingQueue<>();

    List<Request> release(List<Plan> plans) {
        List<Plan> closes = plans.stream().map(Plan::close).toList();
        pending.add(closes);
        return closes.stream().map(Plan::request).toList();
    }

    @Override
    public void run() {
        try {
            while (true) {
                for (Plan close : pending.take()) {
                    close.send();
                }
            }
        } catch (InterruptedException e) {
            LOG.fine("the releaser ends");
        }
    }
}
