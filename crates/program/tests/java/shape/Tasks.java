package shape;

import java.util.TimerTask;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Level;
import java.util.logging.Logger;

class Store {
    boolean append(Object it) { return it != null; }
    void snapshot() { }
    void look() { }
    void follow() { }
    void lead() { }
    void close() { }
    static void touch() { }
}

class Syncer extends Thread {
    static final Logger LOG = Logger.getLogger("shape");
    static final Object DEATH = new Object();
    BlockingQueue<Object> queue = new LinkedBlockingQueue<>();
    Store store = new Store();
    Thread snap;
    int snapCount = 5;

    @Override
    public void run() {
        int logCount = 0;
        while (true) {
            Object si = queue.poll();
            if (si == DEATH) break;
            if (store.append(si)) {
                logCount++;
                if (logCount > snapCount) {
                    if (snap != null && snap.isAlive()) {
                        LOG.warning("Too busy to snap, skipping");
                    } else {
                        (snap = new Thread(() -> store.snapshot())).start();
                    }
                    logCount = 0;
                }
            }
        }
    }
}

class Inherits extends Syncer { }

abstract class Unfinished implements Runnable { }

class Peer implements Runnable {
    enum Mode { LOOKING, FOLLOWING, LEADING }

    volatile boolean running = true;
    Mode mode = Mode.LOOKING;
    Store store = new Store();

    Mode getMode() { return mode; }

    @Override
    public void run() {
        while (running) {
            switch (getMode()) {
                case LOOKING:
                    store.look();
                    break;
                case FOLLOWING:
                    store.follow();
                    break;
                case LEADING:
                    store.lead();
                    break;
                default:
                    break;
            }
        }
        store.close();
    }
}

class Asking implements Callable<String> {
    static int shared;
    int limit;

    int getLimit() { return limit; }

    @Override
    public String call() {
        if (shared > 0) {
            Store.touch();
        }
        int twice = limit * 2;
        if (twice > 4) {
            Store.touch(); // through a local
        }
        if (limit > 7) {
            limit = 0;
        }
        if (limit > 8) {
            Syncer.LOG.fine("not worth it");
        }
        if (limit > 9) {
            Syncer.LOG.log(Level.FINE, "neither");
        }
        if (limit > 9) {
            Syncer.LOG.log(Level.SEVERE, "this is");
        }
        if (limit > 10) {
            getLimit();
        }
        if (limit > 11) {
            throw new IllegalStateException();
        }
        Store.touch(); // behind a throw
        return "done";
    }
}

class Careful extends TimerTask {
    Store store = new Store();

    @Override
    public void run() {
        try {
            store.look();
        } catch (RuntimeException e) {
            store.close();
        } catch (Error e) {
            throw e;
        }
    }
}

class Helped implements Runnable {
    boolean on;

    @Override
    public void run() {
        step();
        finish();
    }

    void step() {
        if (on) {
            Store.touch(); // in a helper
        }
    }

    void finish() {
        Store.touch(); // a helper
    }
}

interface Verb {
    void doVerb(int message);
}

class PutVerb implements Verb {
    int state;

    @Override
    public void doVerb(int message) {
        if (message > state) {
            state = message;
        }
    }
}

class Handing {
    void hand(ExecutorService pool, Runnable other) {
        pool.submit(() -> Store.touch());
        java.util.List.of(1).forEach(it -> Store.touch());
        other.run();
    }
}
