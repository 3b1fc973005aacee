package lease;

import java.util.logging.Logger;

/** Looks for leases that have run out. */
final class Expirer implements Runnable {
    private static final Logger LOG = Logger.getLogger(Expirer.class.getName());
    private static final long PERIOD_MS = 50;

    private final LeaseTable table;

    Expirer(LeaseTable table) {
        this.table = table;
    }

    @Override
    public void run() {
        try {
            while (true) {
                table.expire();
                Thread.sleep(PERIOD_MS);
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
    }
}
