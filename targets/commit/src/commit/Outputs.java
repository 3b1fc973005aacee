package commit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The output of attempts and of tasks: that of an attempt becomes that of its task by its new name. */
final class Outputs {
    private final Path attempts;
    private final Path tasks;

    Outputs(Path data) throws IOException {
        this.attempts = Files.createDirectories(data.resolve("attempts"));
        this.tasks = Files.createDirectories(data.resolve("tasks"));
    }

    void write(String attempt, String text) throws IOException {
        Files.writeString(attempts.resolve(attempt), text);
    }

    void commit(String attempt, int task) throws IOException {
        Files.move(attempts.resolve(attempt), path(task), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    boolean has(int task) {
        return Files.exists(path(task));
    }

    String read(int task) throws IOException {
        return Files.readString(path(task));
    }

    private Path path(int task) {
        return tasks.resolve("task-" + task);
    }
}
