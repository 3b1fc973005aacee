import java.util.Arrays;

/** Loops whose edges a test counts; the calls of hit are inserted by the patcher. */
public class Loops {
    static int[] hits = new int[12];

    public static void hit(int n) {
        hits[n]++;
    }

    static int forLoop(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i;
            if (sum > 1000) {
                break;
            }
        }
        return sum;
    }

    static int doLoop(int n) {
        int i = 0;
        do {
            i++;
        } while (i < n);
        return i;
    }

    static String choose(String text, boolean upper) {
        return "a" + (upper ? text.trim() : text.concat("x")).length();
    }

    static int larger(String text, boolean one) {
        return Math.max(text.length(), one ? 1 : 2);
    }

    public static void main(String[] args) {
        forLoop(0);
        forLoop(3);
        forLoop(5);
        forLoop(100);
        doLoop(0);
        doLoop(1);
        doLoop(4);
        for (int i = 0; i < 5; i++) {
            choose("t", i % 2 == 0);
            larger("t", i % 2 == 0);
        }
        try {
            choose(null, true);
            throw new AssertionError();
        } catch (NullPointerException expected) {
            System.out.println(Arrays.toString(hits));
        }
    }
}
