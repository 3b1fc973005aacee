package assign;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What everybody relies on: keeps the state of each region, and tells those who watch of every change, and of servers that come and go. */
public final class Registry {
    private static final Logger LOG = Logger.getLogger(Registry.class.getName());

    private final States states;
    /** The connections of each server: a new one may come before the old one is seen to be gone. */
    private final Map<String, Integer> servers = new TreeMap<>();
    private final List<Watcher> watchers = new ArrayList<>();

    private Registry(Path data) throws IOException {
        this.states = new States(data);
    }

    public static void main(String[] args) {
        Logging.install();
        Options options = new Options(args);
        try {
            Registry registry = new Registry(Path.of(options.text("data")));
            int port = options.number("port", 7800);
            new Acceptor("Acceptor", port, registry::serve).start();
            LOG.log(Level.INFO, "registry is serving on port {0}", Integer.toString(port));
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    private void serve(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        String kind = in.readUTF();
        if (kind.equals("WATCH")) {
            watch(out);
        } else if (kind.equals("SERVER")) {
            serveServer(in.readUTF(), in, out);
        } else {
            throw new IOException("unknown peer " + kind);
        }
    }

    private void watch(DataOutputStream out) throws IOException {
        Watcher watcher = new Watcher();
        synchronized (this) {
            servers.keySet().forEach(it -> watcher.tell(new Change("SERVER", it, "UP", "")));
            for (Map.Entry<String, String[]> it : states.all().entrySet()) {
                watcher.tell(new Change("REGION", it.getKey(), it.getValue()[0], it.getValue()[1]));
            }
            watchers.add(watcher);
        }
        try {
            watcher.forward(out);
        } finally {
            synchronized (this) {
                watchers.remove(watcher);
            }
        }
    }

    /** A server is there as long as its connection is. */
    private void serveServer(String name, DataInputStream in, DataOutputStream out) throws IOException {
        synchronized (this) {
            servers.merge(name, 1, Integer::sum);
            tell(new Change("SERVER", name, "UP", ""));
        }
        try {
            while (true) {
                String region = in.readUTF();
                String state = in.readUTF();
                if (!state.equals("PING")) {
                    set(region, state, name);
                }
                out.writeUTF("OK");
                out.flush();
            }
        } finally {
            synchronized (this) {
                if (servers.computeIfPresent(name, (key, count) -> count == 1 ? null : count - 1) == null) {
                    tell(new Change("SERVER", name, "GONE", ""));
                }
            }
        }
    }

    private synchronized void set(String region, String state, String server) throws IOException {
        states.set(region, state, server);
        tell(new Change("REGION", region, state, server));
    }

    private void tell(Change change) {
        watchers.forEach(it -> it.tell(change));
    }
}
