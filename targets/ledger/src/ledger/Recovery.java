package ledger;

import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Undoes transfers that nobody has ended. */
final class Recovery implements Runnable {
    private static final Logger LOG = Logger.getLogger(Recovery.class.getName());
    private static final long PERIOD_MS = 150;
    private static final long AGE_MS = 1500;

    private final Intents intents;
    private final int[] ports;

    Recovery(Intents intents, int[] ports) {
        this.intents = intents;
        this.ports = ports;
    }

    @Override
    public void run() {
        try {
            while (true) {
                try (Clerk clerk = new Clerk(intents, ports, "recovery")) {
                    for (Transfer transfer : intents.older(AGE_MS)) {
                        LOG.log(Level.WARNING, "transfer {0} was left open, undoing it", Long.toString(transfer.id()));
                        clerk.undo(transfer);
                    }
                } catch (IOException e) {
                    LOG.log(Level.WARNING, "recovery given up, next one in " + PERIOD_MS + " ms", e);
                }
                Thread.sleep(PERIOD_MS);
            }
        } catch (InterruptedException e) {
            LOG.info("interrupted, ending");
        }
    }
}
