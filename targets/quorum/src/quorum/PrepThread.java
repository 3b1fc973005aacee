package quorum;

import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The first step of every request at the leader: looks at the nodes concerned, and proposes the change. */
final class PrepThread extends Thread {
    private static final Logger LOG = Logger.getLogger(PrepThread.class.getName());

    private final Config config;
    private final Store store;
    private final Leader leader;
    private final BlockingQueue<Txn> submitted = new LinkedBlockingQueue<>();
    private int proposed;

    PrepThread(Config config, Store store, Leader leader) {
        super("PrepThread");
        setDaemon(true);
        this.config = config;
        this.store = store;
        this.leader = leader;
    }

    void add(Txn request) {
        submitted.add(request);
    }

    @Override
    public void run() {
        while (!isInterrupted()) {
            try {
                Txn request = submitted.take();
                if (request.create()) {
                    checkQuota(DataTree.parent(request.path()));
                }
                leader.propose(request);
                proposed++;
            } catch (IOException e) {
                LOG.log(Level.WARNING, "request dropped after " + proposed + ", its client will try again", e);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** The quota is soft: too many children are said, not refused. */
    private void checkQuota(String path) {
        DataNode parent = store.tree().find(path);
        if (parent != null && parent.children() > config.quota && parent.children() % 10 == 0) {
            LOG.warning("quota exceeded: " + path + " has " + parent.children() + " children, limit " + config.quota);
        }
    }
}
