package wal;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** A sorted file of cells, written once under a temporary name and then renamed. */
record StoreFile(Path path) {
    private static final int MAGIC = 0x57414c31;

    static StoreFile write(Path path, SortedMap<String, String> cells) throws IOException {
        Path temporary = path.resolveSibling(path.getFileName() + ".tmp");
        try (FileOutputStream file = new FileOutputStream(temporary.toFile());
                DataOutputStream out = new DataOutputStream(new BufferedOutputStream(file))) {
            out.writeInt(MAGIC);
            out.writeInt(cells.size());
            for (Map.Entry<String, String> cell : cells.entrySet()) {
                out.writeUTF(cell.getKey());
                out.writeUTF(cell.getValue());
            }
            out.flush();
            file.getFD().sync();
        }
        Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
        return new StoreFile(path);
    }

    SortedMap<String, String> read() throws IOException {
        try (DataInputStream in = open()) {
            SortedMap<String, String> cells = new TreeMap<>();
            for (int left = in.readInt(); left > 0; left--) {
                String key = in.readUTF();
                cells.put(key, in.readUTF());
            }
            return cells;
        }
    }

    /** The value of one key, or null. */
    String find(String wanted) throws IOException {
        try (DataInputStream in = open()) {
            for (int left = in.readInt(); left > 0; left--) {
                int order = in.readUTF().compareTo(wanted);
                if (order == 0) {
                    return in.readUTF();
                }
                if (order > 0) {
                    return null;
                }
                in.skipNBytes(in.readUnsignedShort());
            }
            return null;
        }
    }

    private DataInputStream open() throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(path)));
        try {
            if (in.readInt() != MAGIC) {
                throw new IOException(path + " is not a store file");
            }
            return in;
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }
}
