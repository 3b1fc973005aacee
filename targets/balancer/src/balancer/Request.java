package balancer;

import java.util.concurrent.CompletableFuture;

/** A request to open or close a region. Whoever waits for it is told the outcome of the last attempt. */
record Request(Kind kind, Region region, int attempt, long requestedNs, CompletableFuture<Outcome> done) {
    static Request open(Region region) {
        return new Request(Kind.OPEN, region, 1, System.nanoTime(), new CompletableFuture<>());
    }

    /** Takes back one attempt to open a region, and no later one. */
    Request close() {
        return new Request(Kind.CLOSE, region, attempt, System.nanoTime(), new CompletableFuture<>());
    }

    Request again() {
        return new Request(kind, region, attempt + 1, System.nanoTime(), done);
    }
}
