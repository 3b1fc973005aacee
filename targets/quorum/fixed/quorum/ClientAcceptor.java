package quorum;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Takes the connections of clients; each gets a thread of its own. */
final class ClientAcceptor extends Thread {
    private static final Logger LOG = Logger.getLogger(ClientAcceptor.class.getName());

    private final ServerSocket listener;
    private final QuorumPeer peer;
    private final Store store;
    private final Requests requests;
    private int connections;

    ClientAcceptor(QuorumPeer peer, Store store, Requests requests) throws IOException {
        super("ClientAcceptor");
        this.peer = peer;
        this.store = store;
        this.requests = requests;
        listener = new ServerSocket();
        listener.bind(Config.clients(peer.config().id));
    }

    @Override
    public void run() {
        LOG.info("client port is " + listener.getLocalPort());
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                admit(socket);
            } catch (IOException e) {
                LOG.log(Level.WARNING, "accept failed after " + connections + " connections, going on", e);
            }
        }
    }

    private void admit(Socket socket) throws IOException {
        socket.setTcpNoDelay(true);
        ClientHandler handler = new ClientHandler(socket, peer, store, requests, ++connections);
        handler.start();
    }
}
