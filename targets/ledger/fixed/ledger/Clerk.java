package ledger;

import java.io.Closeable;
import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Carries transfers out, one at a time: both branches change, or neither does. */
final class Clerk implements Closeable {
    private static final Logger LOG = Logger.getLogger(Clerk.class.getName());

    private final Intents intents;
    private final BranchClient[] branches;

    Clerk(Intents intents, int[] ports, String name) {
        this.intents = intents;
        this.branches = new BranchClient[ports.length];
        for (int i = 0; i < ports.length; i++) {
            branches[i] = new BranchClient(ports[i], name);
        }
    }

    /** Whether it was carried out. */
    boolean carryOut(Transfer transfer) throws IOException {
        intents.begin(transfer);
        try {
            branches[transfer.fromBranch()].change(transfer.id(), transfer.from(), -transfer.amount());
            branches[transfer.toBranch()].change(transfer.id(), transfer.to(), transfer.amount());
            intents.end(transfer, "DONE");
            return true;
        } catch (IOException e) {
            LOG.log(Level.WARNING, "transfer " + transfer.id() + " failed, undoing it", e);
            undo(transfer);
            return false;
        }
    }

    /** Takes back what a transfer did, at either end. */
    void undo(Transfer transfer) throws IOException {
        try {
            branches[transfer.fromBranch()].undo(transfer.id());
            branches[transfer.toBranch()].undo(transfer.id());
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot undo transfer " + transfer.id() + ", leaving it to the recovery", e);
            return;
        }
        intents.end(transfer, "UNDONE");
    }

    @Override
    public void close() throws IOException {
        for (BranchClient branch : branches) {
            branch.close();
        }
    }
}
