package balancer;

/** What a host is asked to do. */
enum Kind {
    OPEN,
    CLOSE
}
