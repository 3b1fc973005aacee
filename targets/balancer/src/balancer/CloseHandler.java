package balancer;

/** Closes regions that were opened by the same attempt. */
final class CloseHandler implements RequestHandler {
    @Override
    public void handle(Request request, RegionHost host) throws HostBusyException {
        host.admit(request);
        host.opened().remove(request.region(), request.attempt());
    }
}
