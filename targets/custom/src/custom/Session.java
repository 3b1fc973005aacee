package custom;

/** A comparison of two replicas that is under way. */
final class Session {
    private static final long POLL_MS = 20;

    private final String range;
    private volatile boolean isOver;
    private String verdict;

    Session(String range) {
        this.range = range;
    }

    String range() {
        return range;
    }

    void end(String text) {
        verdict = text;
        isOver = true;
    }

    String await() throws InterruptedException {
        while (!isOver) {
            Thread.sleep(POLL_MS);
        }
        return verdict;
    }
}
