package reply;

import java.io.IOException;

/** A request that is on its way, and its answer. */
final class Call {
    private static final long LIMIT_MS = 1500;

    private final int number;
    private String answer;
    private IOException error;
    private boolean isDone;

    Call(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    synchronized void complete(String text) {
        answer = text;
        isDone = true;
        notify();
    }

    synchronized void fail(IOException why) {
        error = why;
        isDone = true;
        notify();
    }

    synchronized String await() throws IOException, InterruptedException {
        if (!isDone) {
            wait(LIMIT_MS);
        }
        if (!isDone) {
            throw new IOException("call " + number + " is not answered in " + LIMIT_MS + " ms");
        }
        if (error != null) {
            throw new IOException("call " + number + " failed", error);
        }
        return answer;
    }
}
