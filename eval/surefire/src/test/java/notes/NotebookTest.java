package notes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NotebookTest {
    @TempDir
    Path directory;

    @Test
    void linesComeBackInTheirOrder() throws IOException {
        try (Notebook notebook = new Notebook(directory.resolve("notes"))) {
            notebook.add("one");
            notebook.add("two");
            assertEquals(List.of("one", "two"), notebook.lines());
        }
    }

    @Test
    void aNotebookGoesOnWhereItWasLeft() throws IOException {
        for (String line : List.of("one", "two")) {
            try (Notebook notebook = new Notebook(directory.resolve("notes"))) {
                notebook.add(line);
            }
        }
        try (Notebook notebook = new Notebook(directory.resolve("notes"))) {
            assertEquals(List.of("one", "two"), notebook.lines());
        }
    }
}
