package balancer;

import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Opens and closes regions, one request after the other. */
final class RegionHost implements Runnable {
    private static final Logger LOG = Logger.getLogger(RegionHost.class.getName());
    /** Nobody waits any longer for a request that is older. */
    private static final long WAIT_MS = 600;

    private final String name;
    private final BlockingQueue<Answer> answers;
    private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
    private final Map<Kind, RequestHandler> handlers =
            Map.of(Kind.OPEN, new OpenHandler(), Kind.CLOSE, new CloseHandler());
    private final Map<Region, Integer> opened = new ConcurrentHashMap<>();
    private volatile boolean lost;
    private long metaRequests;

    RegionHost(String name, BlockingQueue<Answer> answers) {
        this.name = name;
        this.answers = answers;
    }

    String name() {
        return name;
    }

    /** The open regions, each with the attempt that opened it. */
    Map<Region, Integer> opened() {
        return opened;
    }

    void submit(Request request) {
        if (lost) {
            answers.add(new Answer(this, request, Outcome.LOST));
            return;
        }
        requests.add(request);
    }

    void lose() {
        lost = true;
    }

    @Override
    public void run() {
        try {
            while (true) {
                Request request = requests.take();
                if (request.region().meta()) {
                    metaRequests++;
                }
                Outcome outcome = Outcome.DONE;
                try {
                    handlers.get(request.kind()).handle(request, this);
                } catch (HostBusyException e) {
                    LOG.log(Level.FINE, "refused", e);
                    outcome = Outcome.BUSY;
                }
                answers.put(new Answer(this, request, outcome));
            }
        } catch (InterruptedException e) {
            LOG.log(Level.FINE, "{0} ends after {1} requests for the catalogue", new Object[] {name, metaRequests});
        }
    }

    /** Refuses a request that has waited for too long. */
    void admit(Request request) throws HostBusyException {
        long waitedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - request.requestedNs());
        if (waitedMs > WAIT_MS) {
            throw new HostBusyException(request.region().name() + " has waited for " + waitedMs + " ms");
        }
    }
}
