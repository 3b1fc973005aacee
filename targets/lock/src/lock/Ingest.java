package lock;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The server that takes what clients write, a segment each, and says which partitions are to be merged. */
public final class Ingest {
    private static final Logger LOG = Logger.getLogger(Ingest.class.getName());
    private static final int PARTITIONS = 3;
    /** From so many segments on a partition is merged; from so many on it takes no more. */
    private static final int MERGE_FROM = 3;
    private static final int FULL_FROM = 6;

    private final List<Partition> partitions = new ArrayList<>();
    private int next;

    private Ingest(Path data) throws IOException {
        for (int i = 0; i < PARTITIONS; i++) {
            partitions.add(new Partition(data, i));
        }
    }

    public static void main(String[] args) {
        Logging.install();
        Options options = new Options(args);
        try {
            Ingest ingest = new Ingest(Path.of(options.text("data")));
            int port = options.number("port", 7601);
            new Acceptor("Acceptor", port, ingest::serve).start();
            LOG.log(Level.INFO, "ingest is serving on port {0}", Integer.toString(port));
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
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
            out.writeUTF(answer(request, in));
            out.flush();
        }
    }

    private String answer(String request, DataInputStream in) throws IOException {
        switch (request) {
            case "HELLO":
                LOG.log(Level.INFO, "{0} is here", in.readUTF());
                return "OK";
            case "ADD":
                return add(Integer.parseInt(in.readUTF()), in.readUTF());
            case "GET":
                String key = in.readUTF();
                return partition(Integer.parseInt(key)).read().getOrDefault(key, "");
            case "NEXT":
                return Integer.toString(nextToMerge());
            case "MERGED":
                LOG.log(Level.INFO, "partition {0} is merged", in.readUTF());
                return "OK";
            default:
                throw new IOException("unknown request " + request);
        }
    }

    private String add(int number, String text) throws IOException {
        Partition partition = partition(number);
        if (partition.segments().size() >= FULL_FROM) {
            LOG.log(Level.WARNING, "partition {0} has too many segments", number % PARTITIONS);
            return "BUSY";
        }
        partition.add(number, text);
        return "OK";
    }

    private Partition partition(int number) {
        return partitions.get(number % PARTITIONS);
    }

    /** A partition with many segments, each in turn; -1 if there is none. */
    private synchronized int nextToMerge() throws IOException {
        for (int tried = 0; tried < PARTITIONS; tried++) {
            int number = next;
            next = (next + 1) % PARTITIONS;
            if (partitions.get(number).segments().size() >= MERGE_FROM) {
                return number;
            }
        }
        return -1;
    }
}
