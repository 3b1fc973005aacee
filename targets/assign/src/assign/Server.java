package assign;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Serves the regions that the master has it open. */
public final class Server {
    private static final Logger LOG = Logger.getLogger(Server.class.getName());
    private static final long BEAT_MS = 300;

    private final Path data;
    private final Membership membership;
    private final Map<String, Region> open = new ConcurrentHashMap<>();
    private final ExecutorService opener = Executors.newSingleThreadExecutor(task -> new Thread(task, "Opener"));

    private Server(Path data, Membership membership) {
        this.data = data;
        this.membership = membership;
    }

    public static void main(String[] args) {
        Logging.install();
        Options options = new Options(args);
        try {
            Membership membership = new Membership(options.text("name"), options.number("registry", 7800));
            Server server = new Server(Path.of(options.text("data")), membership);
            new Acceptor("Acceptor", options.number("port", 0), server::serve).start();
            membership.join();
            Thread heartbeat = new Thread(server::beat, "Heartbeat");
            heartbeat.setDaemon(true);
            heartbeat.start();
            LOG.log(Level.INFO, "{0} is serving", options.text("name"));
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    /** Stays with the registry, also if that is started again. */
    private void beat() {
        while (true) {
            try {
                Thread.sleep(BEAT_MS);
                membership.announce("", "PING");
            } catch (IOException e) {
                LOG.log(Level.WARNING, "no heartbeat", e);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        while (true) {
            String request;
            try {
                request = in.readUTF();
            } catch (EOFException e) {
                return;
            }
            String region = in.readUTF();
            String answer = switch (request) {
                case "OPEN" -> {
                    opener.execute(() -> open(region));
                    yield "OK";
                }
                case "PUT" -> region(region).put(in.readUTF());
                case "GET" -> region(region).get();
                default -> throw new IOException("unknown request " + request);
            };
            out.writeUTF(answer);
            out.flush();
        }
    }

    private Region region(String name) throws IOException {
        Region region = open.get(name);
        if (region == null) {
            throw new IOException(name + " is not here");
        }
        return region;
    }

    /** Opens a region, also one that is open: the master was not told of it in time. */
    private void open(String name) {
        try {
            membership.announce(name, "OPENING");
            open.put(name, new Region(data, name));
            membership.announce(name, "OPENED");
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot open " + name, e);
        }
    }
}
