package balancer;

import java.util.concurrent.BlockingQueue;
import java.util.logging.Logger;

/** Takes the answers of the hosts, and tells those who wait for them. */
final class Tracker implements Runnable {
    private static final Logger LOG = Logger.getLogger(Tracker.class.getName());

    private final BlockingQueue<Answer> answers;
    private final Placer placer;

    Tracker(BlockingQueue<Answer> answers, Placer placer) {
        this.answers = answers;
        this.placer = placer;
    }

    @Override
    public void run() {
        try {
            while (true) {
                Answer answer = answers.take();
                Request request = answer.request();
                // A host that is merely busy is as good as before once it has caught up.
                if (answer.outcome() == Outcome.LOST) {
                    placer.exclude(answer.host());
                }
                request.done().complete(answer.outcome());
            }
        } catch (InterruptedException e) {
            LOG.fine("the tracker ends");
        }
    }
}
