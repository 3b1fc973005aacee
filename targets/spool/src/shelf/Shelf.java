package shelf;

import java.util.logging.Logger;
import shelflib.Rack;

/** {@code Shelf DIR}: puts boxes on a rack. One that cannot be put there is lost, and the library only declares an abstract exception. */
public final class Shelf {
    private static final Logger LOG = Logger.getLogger(Shelf.class.getName());

    private Shelf() {}

    public static void main(String[] args) {
        Rack rack = new Rack();
        for (int number = 1; number <= 5; number++) {
            try {
                LOG.info("box " + number + " is on the rack, " + rack.put(1)); // site: put
            } catch (Rack.RackException e) {
                LOG.severe("box " + number + " is lost");
            }
        }
        LOG.info("all boxes are done, tidy " + isTidy());
    }

    private static boolean isTidy() {
        return true; // site: tidy
    }
}
