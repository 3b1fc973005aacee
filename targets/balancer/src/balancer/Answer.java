package balancer;

/** Answer of a host to a request. */
record Answer(RegionHost host, Request request, Outcome outcome) {}
