package balancer;

/** Chooses hosts for regions. */
interface Placer {
    RegionHost choose(Region region);

    /** Tests whether there are hosts enough to place anything. */
    boolean canPlace();

    void join(RegionHost host);

    /** No region goes to this host any more. */
    void exclude(RegionHost host);
}
