package balancer;

/** Carries out the requests of one kind. */
interface RequestHandler {
    void handle(Request request, RegionHost host) throws HostBusyException;
}
