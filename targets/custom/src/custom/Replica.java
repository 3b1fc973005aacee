package custom;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.zip.CRC32;

/** A server with some ranges of data, each a file, that says what is in them. */
public final class Replica {
    private static final Logger LOG = Logger.getLogger(Replica.class.getName());
    private static final int RANGES = 8;
    private static final int BYTES = 4096;

    private final Path data;

    private Replica(Path data) throws IOException {
        this.data = Files.createDirectories(data);
        for (int i = 0; i < RANGES; i++) {
            byte[] bytes = new byte[BYTES];
            Arrays.fill(bytes, (byte) i);
            Files.write(data.resolve("range-" + i), bytes);
        }
    }

    public static void main(String[] args) {
        Logging.install();
        Options options = new Options(args);
        try {
            Replica replica = new Replica(Path.of(options.text("data")));
            new Acceptor("Acceptor", options.number("port", 0), replica::serve).start();
            LOG.info("the replica is there");
        } catch (IOException e) {
            LOG.log(Level.SEVERE, "cannot start, exiting", e);
            System.exit(2);
        }
    }

    private void serve(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        while (true) {
            String range;
            try {
                range = in.readUTF();
            } catch (EOFException e) {
                return;
            }
            String sum = sum(range);
            out.writeUTF(range);
            out.writeUTF(sum);
            out.flush();
        }
    }

    private String sum(String range) throws IOException {
        CRC32 sum = new CRC32();
        sum.update(Files.readAllBytes(data.resolve(range.substring(0, range.indexOf('@')))));
        return Long.toHexString(sum.getValue());
    }
}
