package snapshot;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.zip.CRC32;

/** The epoch that a server has accepted, in a file that is replaced as a whole. */
final class EpochFile {
    private final Path path;
    private final Path next;

    EpochFile(Path directory) {
        this.path = directory.resolve("currentEpoch");
        this.next = directory.resolve("currentEpoch.tmp");
    }

    /** Tests whether the file is whole, and written for a tree of this epoch. */
    boolean covers(long ofTree) throws IOException {
        try {
            String[] parts = Files.readString(path).trim().split(" ");
            return parts.length == 2 && parts[1].equals(checksum(parts[0])) && Long.parseLong(parts[0]) >= ofTree;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    long read() throws IOException {
        return Long.parseLong(Files.readString(path).split(" ")[0]);
    }

    void write(long epoch) throws IOException {
        String text = Long.toString(epoch);
        Files.writeString(next, text + " " + checksum(text) + "\n");
        Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static String checksum(String text) {
        CRC32 checksum = new CRC32();
        checksum.update(text.getBytes(StandardCharsets.US_ASCII));
        return Long.toHexString(checksum.getValue());
    }
}
