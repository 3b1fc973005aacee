package mover;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.logging.Logger;

public class Mover {
    private static final Logger LOG = Logger.getLogger("mover");

    public static void main(String[] args) {
        try {
            store(Path.of(args[0]), Path.of(args[1]));
        } catch (IOException e) {
            LOG.warning("cannot store: " + e);
        }
    }

    private static void store(Path from, Path to) throws IOException {
        FileChannel channel = FileChannel.open(from, StandardOpenOption.WRITE);
        channel.write(ByteBuffer.allocate(1));
        channel.force(true);
        Files.move(from, to);
    }
}
