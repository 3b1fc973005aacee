package quorum;

import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The life of a server: it looks for a leader, follows it or is it, and looks again when that has ended. */
final class QuorumPeer extends Thread {
    enum Role { LOOKING, FOLLOWING, LEADING }

    private static final Logger LOG = Logger.getLogger(QuorumPeer.class.getName());

    private final Config config;
    private final Store store;
    private final SyncThread sync;
    private final CommitThread commit;
    private final Elector elector = new Elector(this);
    private volatile Role role = Role.LOOKING;
    private volatile Leader leader;
    private volatile Follower follower;

    QuorumPeer(Config config, Store store, SyncThread sync, CommitThread commit) {
        super("QuorumPeer-" + config.id);
        this.config = config;
        this.store = store;
        this.sync = sync;
        this.commit = commit;
    }

    Config config() {
        return config;
    }

    Role role() {
        return role;
    }

    Vote vote() {
        return new Vote(config.id, role, store.lastLogged());
    }

    /** What the health check says: is this server in touch with a majority? */
    boolean serving() {
        Leader leading = leader;
        Follower following = follower;
        return (leading != null && leading.serving()) || (following != null && following.serving());
    }

    /** Hands a request of a client on to the leader, wherever that is. */
    void submit(Txn request) throws IOException {
        Leader leading = leader;
        Follower following = follower;
        if (leading != null && leading.serving()) {
            leading.submit(request);
        } else if (following != null && following.serving()) {
            following.forward(request);
        } else {
            throw new IOException("not serving: " + role);
        }
    }

    @Override
    public void run() {
        while (!isInterrupted()) {
            try {
                LOG.info(role.name());
                int elected = elector.elect();
                if (elected == config.id) {
                    role = Role.LEADING;
                    LOG.info("LEADING");
                    leader = new Leader(config, store, sync, commit);
                    leader.lead();
                } else {
                    role = Role.FOLLOWING;
                    LOG.info("FOLLOWING " + elected);
                    follower = new Follower(config, store, sync, commit);
                    follower.follow(elected);
                }
            } catch (IOException e) {
                LOG.log(Level.WARNING, "unexpected exception while " + role, e);
            } catch (InterruptedException e) {
                return;
            } finally {
                role = Role.LOOKING;
                leader = null;
                follower = null;
            }
        }
    }
}
