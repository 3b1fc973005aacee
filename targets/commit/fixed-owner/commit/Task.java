package commit;

/** A part of the job, and how far it is. At most one of its attempts may commit its output. */
final class Task {
    private final int number;
    private int attempts;
    /** The attempt that is running. */
    private String running;
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
        if (running != null || isDone) {
            return null;
        }
        running = "task-" + number + "-attempt-" + attempts++;
        return running;
    }

    /** The worker is gone: another attempt is needed. */
    synchronized void lose() {
        running = null;
    }

    synchronized boolean canCommit(String attempt) {
        if (isHeldByAnother(attempt)) {
            return false;
        }
        if (commit == null || !commit.equals(attempt)) {
            commit = attempt;
        }
        return true;
    }

    /** Tests whether another attempt that is still running may commit. */
    private boolean isHeldByAnother(String attempt) {
        return commit != null && !commit.equals(attempt) && commit.equals(running);
    }

    synchronized void end() {
        running = null;
        isDone = true;
    }

    synchronized boolean isDone() {
        return isDone;
    }
}
