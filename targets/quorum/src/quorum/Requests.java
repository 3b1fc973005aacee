package quorum;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The requests of this server's clients that wait for their commit. */
final class Requests {
    private final Map<Long, CompletableFuture<DataTree.Result>> waiting = new ConcurrentHashMap<>();
    private final AtomicLong next = new AtomicLong();

    long open() {
        long request = next.incrementAndGet();
        waiting.put(request, new CompletableFuture<>());
        return request;
    }

    CompletableFuture<DataTree.Result> outcome(long request) {
        return waiting.get(request);
    }

    void complete(long request, DataTree.Result result) {
        CompletableFuture<DataTree.Result> outcome = waiting.get(request);
        if (outcome != null) {
            outcome.complete(result);
        }
    }

    void close(long request) {
        waiting.remove(request);
    }

    int size() {
        return waiting.size();
    }
}
