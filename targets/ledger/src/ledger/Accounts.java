package ledger;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The accounts of a branch. A change belongs to a transfer, and whatever is done with it twice is done once: a change that
 * is there already, and the undoing of one that is not, or not yet.
 */
final class Accounts {
    private final Map<String, Long> balances = new TreeMap<>();
    private final Map<Long, Change> changes = new HashMap<>();
    private final Set<Long> undone = new HashSet<>();
    private final ChangeLog log;

    private record Change(String account, long amount) {}

    Accounts(ChangeLog log, int count, long each) {
        this.log = log;
        for (int i = 0; i < count; i++) {
            balances.put("account-" + i, each);
        }
    }

    synchronized void change(long transfer, String account, long amount) throws IOException {
        Long balance = balances.get(account);
        if (balance == null) {
            throw new IOException("no account " + account + " in this branch");
        }
        if (undone.contains(transfer)) {
            throw new IOException("transfer " + transfer + " was undone");
        }
        if (!changes.containsKey(transfer)) {
            log.append("CHANGE", transfer, account, amount);
            changes.put(transfer, new Change(account, amount));
            balances.put(account, balance + amount);
        }
    }

    synchronized void undo(long transfer) throws IOException {
        if (undone.contains(transfer)) {
            return;
        }
        Change change = changes.get(transfer);
        log.append("UNDO", transfer, change == null ? "" : change.account(), change == null ? 0 : -change.amount());
        undone.add(transfer);
        if (change != null) {
            balances.merge(change.account(), -change.amount(), Long::sum);
        }
    }

    synchronized long total() {
        return balances.values().stream().mapToLong(Long::longValue).sum();
    }
}
