package notes;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Prints on both streams, and leaves word of which process it ran in. */
class TalkingTest {
    @TempDir
    Path directory;

    @Test
    void talks() throws IOException {
        ProcessHandle self = ProcessHandle.current();
        try (Notebook notebook = new Notebook(directory.resolve("notes"))) {
            notebook.add("spoken");
            System.out.println("on stdout: " + notebook.lines());
            System.err.println("on stderr: " + notebook.lines());
            System.out.print("a line on stdout without its end");
        }
        String parent = self.parent().map(it -> Long.toString(it.pid())).orElse("none");
        String asked = System.getProperty("processes");
        if (asked != null) {
            Files.writeString(Path.of(asked), "self " + self.pid() + "\nparent " + parent + "\n");
        }
        assertTrue(self.isAlive());
    }
}
