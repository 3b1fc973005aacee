package worker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Works on a file, prints on both streams, and leaves word of which process it is. */
public final class Worker {
    public static void main(String[] args) throws IOException {
        Path scratch = Files.createTempFile("worker", ".txt");
        try {
            for (int i = 0; i < 3; i++) {
                Files.writeString(scratch, "line " + i + "\n");
            }
            System.out.println("worker: wrote " + Files.size(scratch) + " bytes");
        } finally {
            Files.delete(scratch);
        }
        System.err.println("worker: on stderr");
        ProcessHandle self = ProcessHandle.current();
        String parent = self.parent().map(it -> Long.toString(it.pid())).orElse("none");
        Files.writeString(Path.of(args[0]), "self " + self.pid() + "\nparent " + parent + "\n");
    }
}
