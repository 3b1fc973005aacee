package commit;

/** A part of the job, and how far it is. At most one of its attempts may commit its output. */
final class Task {
    private final int number;
    private int attempts;
    private boolean isRunning;
    private boolean isDone;
    /** The attempt that may commit. */
    private String commit;

    Task(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    /** The next attempt, or null if the task needs none. */
    synchronized String start() {
        if (isRunning || isDone) {
            return null;
        }
        isRunning = true;
        return "task-" + number + "-attempt-" + attempts++;
    }

    /** The worker is gone: another attempt is needed. */
    synchronized void lose() {
        isRunning = false;
    }

    synchronized boolean canCommit(String attempt) {
        if (commit == null) {
            commit = attempt;
        }
        return commit.equals(attempt);
    }

    synchronized void end() {
        isRunning = false;
        isDone = true;
    }

    synchronized boolean isDone() {
        return isDone;
    }
}
