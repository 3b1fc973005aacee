package probe;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Writes below a directory by each interface that the JDK has, before and after its disk may be full, and tells how each attempt ended. */
public class Full {
    interface Attempt {
        void make() throws IOException;
    }

    public static void main(String[] args) throws Exception {
        Path root = Path.of(args[0]);
        Path data = Files.createDirectory(root.resolve("data"));
        if (args[1].equals("while")) {
            fill();
            int failed = 0;
            while (!attempt("write", () -> Files.write(data.resolve("a"), new byte[1]))) {
                failed++;
                Thread.sleep(10);
            }
            System.out.println(failed > 0 ? "failed for a while" : "never failed");
            return;
        }
        FileOutputStream stream = new FileOutputStream(data.resolve("stream").toFile());
        RandomAccessFile random = new RandomAccessFile(data.resolve("random").toFile(), "rw");
        FileChannel channel =
                FileChannel.open(data.resolve("channel"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        stream.write(1);
        fill();
        attempt("stream", () -> stream.write(new byte[4]));
        attempt("random", () -> random.writeInt(1));
        attempt("channel", () -> channel.write(ByteBuffer.allocate(4)));
        attempt("vector", () -> channel.write(new ByteBuffer[] {ByteBuffer.allocate(1), ByteBuffer.allocate(1)}));
        attempt("force", () -> channel.force(false));
        attempt("truncate", () -> channel.truncate(0));
        attempt("open", () -> new FileOutputStream(data.resolve("new").toFile()).close());
        attempt("create", () -> new File(data.toFile(), "created").createNewFile());
        attempt("files", () -> Files.write(data.resolve("files"), new byte[1]));
        attempt("directory", () -> Files.createDirectory(data.resolve("sub")));
        attempt("read", () -> Files.readAllBytes(data.resolve("stream")));
        attempt("move", () -> Files.move(data.resolve("random"), data.resolve("moved")));
        attempt("delete", () -> Files.delete(data.resolve("channel")));
        attempt("elsewhere", () -> Files.write(root.resolve("database"), new byte[1]));
    }

    static void fill() {
    }

    static boolean attempt(String name, Attempt attempt) {
        try {
            attempt.make();
            System.out.println(name + ": done");
            return true;
        } catch (IOException e) {
            String message = String.valueOf(e.getMessage()).replaceAll("/.*/", "");
            System.out.println(name + ": " + e.getClass().getSimpleName() + ": " + message);
            return false;
        }
    }
}
