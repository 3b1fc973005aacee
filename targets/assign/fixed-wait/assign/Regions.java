package assign;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;

/** What the master knows of regions and servers, as the registry tells it. */
final class Regions {
    private static final long LIMIT_MS = 1500;

    private final Set<String> servers = new ConcurrentSkipListSet<>();
    /** The server that has opened a region. */
    private final Map<String, String> homes = new ConcurrentHashMap<>();
    /** The server that is opening a region. */
    private final Map<String, String> inTransition = new ConcurrentHashMap<>();

    /** Takes note of a change, and returns the regions that have lost their server by it. */
    synchronized List<String> apply(Change change) {
        switch (change.state()) {
            case "UP" -> servers.add(change.name());
            case "GONE" -> {
                return lose(change.name());
            }
            case "OPENING" -> {
                homes.remove(change.name());
                inTransition.put(change.name(), change.server());
            }
            case "OPENED" -> {
                homes.put(change.name(), change.server());
                inTransition.remove(change.name());
                notifyAll();
            }
            default -> { }
        }
        return List.of();
    }

    private List<String> lose(String server) {
        servers.remove(server);
        List<String> lost = new ArrayList<>();
        homes.forEach((region, home) -> {
            if (home.equals(server)) {
                lost.add(region);
            }
        });
        lost.forEach(homes::remove);
        return lost;
    }

    List<String> servers() {
        return List.copyOf(servers);
    }

    String home(String region) {
        return homes.getOrDefault(region, "");
    }

    /** Tests whether a server has been heard of since it was told to open a region, or has opened it. */
    boolean isUnderway(String region) {
        return inTransition.containsKey(region) || homes.containsKey(region);
    }

    /** Waits until the region is open, or the server has had its time. */
    synchronized void awaitOpened(String region) throws InterruptedException {
        if (inTransition.containsKey(region)) {
            wait(LIMIT_MS);
        }
        inTransition.remove(region);
    }
}
