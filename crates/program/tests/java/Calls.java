package fixture;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Logger;

public class Calls {
    private static final Logger LOG = Logger.getLogger("calls");

    static boolean both(List<String> list, String text) {
        list.add(text);
        LOG.warning("first");
        if (list.size() > 3) {
            list.add("more");
            return true;
        }
        try {
            new ArrayList<>(list).add(text);
        } catch (IllegalStateException e) {
            LOG.info("caught");
        }
        Runnable later = () -> list.add("later");
        later.run();
        System.out.println("printed");
        return false;
    }

    abstract static class Broken extends Exception {
    }

    public static class BrokenPipe extends Broken {
        public BrokenPipe() {
        }
    }

    static class BrokenHeart extends Broken {
    }

    public static class BrokenLeadPipe extends BrokenPipe {
    }

    abstract static class Childless extends Broken {
    }

    native void nothing();

    interface Told {
        default void isTold() {
        }
    }

    static class Above implements Told {
        void isAbove() {
        }
    }

    static class Below extends Above {
        void isBelow() {
        }
    }
}
