package journal;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A journal server and three clients, in one JVM but over real sockets and a real file. Exit status 0 if every record
 * was acknowledged and is in the file.
 */
public final class Main {
    private static final int CLIENTS = 3;
    private static final int RECORDS = 50;

    private Main() {}

    public static void main(String[] args) throws Exception {
        Path file = Files.createTempFile("journal", ".log");
        Journal journal = new Journal(file);
        Server server = new Server(journal);
        Thread acceptor = new Thread(server, "Acceptor");
        acceptor.start();

        List<Client> clients = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 1; i <= CLIENTS; i++) {
            Client client = new Client("client-" + i, server.port(), RECORDS);
            clients.add(client);
            threads.add(new Thread(client, "Client-" + i));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        server.stop();
        acceptor.join();

        int acknowledged = clients.stream().mapToInt(Client::acknowledged).sum();
        int durable = journal.records().size();
        Files.delete(file);
        System.out.println("acknowledged " + acknowledged + " of " + CLIENTS * RECORDS + ", in the journal " + durable);
        System.exit(acknowledged == CLIENTS * RECORDS && durable == acknowledged ? 0 : 1);
    }
}
