package balancer;

/** What came of a request. */
enum Outcome {
    DONE,
    /** It had waited for too long. */
    BUSY,
    /** The host is gone. */
    LOST,
    /** No host could be chosen. */
    UNPLACED
}
