package custom;

/** A comparison of two replicas that is under way. */
final class Session {
    private static final long POLL_MS = 20;
    private static final long LIMIT_MS = 1500;

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

    /** The verdict; none if it takes too long. */
    String await() throws InterruptedException {
        long deadline = System.nanoTime() + LIMIT_MS * 1_000_000;
        while (!isOver && System.nanoTime() < deadline) {
            Thread.sleep(POLL_MS);
        }
        return isOver ? verdict : "NONE";
    }
}
