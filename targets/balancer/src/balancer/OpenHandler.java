package balancer;

/** Opens regions. */
final class OpenHandler implements RequestHandler {
    @Override
    public void handle(Request request, RegionHost host) throws HostBusyException {
        host.admit(request);
        host.opened().put(request.region(), request.attempt());
    }
}
