import java.io.IOException;

/** Calls, loops, handlers and threads enough for a trace of every kind of record. */
public class Small {
    static boolean even(int n) {
        return n % 2 == 0;
    }

    static int work(int n) throws IOException {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += even(i) ? i : -i;
        }
        if (sum > 2) {
            throw new IOException("too much: " + sum);
        }
        return sum;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread other = new Thread(Small::several, "other");
        other.start();
        several();
        other.join();
    }

    static void several() {
        for (int n = 0; n < 8; n++) {
            try {
                System.out.println(work(n));
            } catch (IOException error) {
                System.out.println(error.getMessage());
            }
        }
    }
}
