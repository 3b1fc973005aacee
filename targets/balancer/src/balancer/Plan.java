package balancer;

/** A request, and the host that is to carry it out. */
record Plan(Request request, RegionHost host) {
    void send() {
        host.submit(request);
    }

    Plan close() {
        return new Plan(request.close(), host);
    }
}
