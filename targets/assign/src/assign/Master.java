package assign;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Assigns regions to servers, each again when its server is gone, and tells clients where they are. */
public final class Master {
    private static final Logger LOG = Logger.getLogger(Master.class.getName());
    private static final int REGIONS = 12;
    private static final int ANSWER_MS = 2000;
    private static final long RETRY_MS = 50;
    private static final int LOOKS = 20;

    private final Options options;
    private final Regions regions = new Regions();
    private final BlockingQueue<String> unassigned = new LinkedBlockingQueue<>();
    private int turn;

    private Master(Options options) {
        this.options = options;
    }

    public static void main(String[] args) throws InterruptedException {
        Logging.install();
        try {
            Master master = new Master(new Options(args));
            new Acceptor("ClientAcceptor", master.options.number("clients", 7801), master::serve).start();
            Thread watch = new Thread(master::watch, "Watch");
            watch.setDaemon(true);
            watch.start();
            LOG.info("the master is there");
            master.assignAll();
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    /** Hears of changes. Whoever connects is told of everything that is. */
    private void watch() {
        while (true) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), options.number("registry", 7800)), ANSWER_MS);
                socket.setSoTimeout(ANSWER_MS);
                DataOutputStream out = new DataOutputStream(socket.getOutputStream());
                out.writeUTF("WATCH");
                DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
                while (true) {
                    unassigned.addAll(regions.apply(Change.read(in)));
                }
            } catch (IOException e) {
                LOG.log(Level.INFO, "no registry: {0}", e.toString());
            }
            pause();
        }
    }

    private void assignAll() throws InterruptedException {
        for (int i = 0; i < REGIONS; i++) {
            assign("region-" + i);
        }
        LOG.info("all regions are assigned");
        while (true) {
            String region = unassigned.poll(1, TimeUnit.SECONDS);
            if (region != null) {
                assign(region);
            }
        }
    }

    private void assign(String region) throws InterruptedException {
        while (regions.home(region).isEmpty()) {
            List<String> servers = regions.servers();
            if (servers.isEmpty()) {
                pause();
                continue;
            }
            String server = servers.get(turn++ % servers.size());
            try (Connection connection = connect(server)) {
                connection.call("OPEN", region);
                for (int look = 0; look < LOOKS && !regions.isUnderway(region); look++) {
                    pause();
                }
                regions.awaitOpened(region);
            } catch (IOException e) {
                LOG.log(Level.INFO, "{0} does not open {1}: {2}", new Object[] {server, region, e.toString()});
                pause();
            }
        }
        LOG.log(Level.INFO, "{0} is at {1}", new Object[] {region, regions.home(region)});
    }

    private Connection connect(String server) {
        return new Connection(options.number(server, 0));
    }

    private void serve(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        while (true) {
            String region;
            try {
                region = in.readUTF();
            } catch (EOFException e) {
                return;
            }
            String home = regions.home(region);
            out.writeUTF(home.isEmpty() ? "" : Integer.toString(options.number(home, 0)));
            out.flush();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(RETRY_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
