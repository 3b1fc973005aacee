package hits;

import java.io.File;

/**
 * One of several JVMs: `Ten DIRECTORY JVMS ROUNDS` waits until so many have come to the directory, and then reaches its
 * ten sites in turn, again and again. It prints how many exceptions it saw.
 */
public class Ten {
    static void nothing() {}

    static void s0() { nothing(); }
    static void s1() { nothing(); }
    static void s2() { nothing(); }
    static void s3() { nothing(); }
    static void s4() { nothing(); }
    static void s5() { nothing(); }
    static void s6() { nothing(); }
    static void s7() { nothing(); }
    static void s8() { nothing(); }
    static void s9() { nothing(); }

    public static void main(String[] args) throws Exception {
        File directory = new File(args[0]);
        Runnable[] sites = {Ten::s0, Ten::s1, Ten::s2, Ten::s3, Ten::s4, Ten::s5, Ten::s6, Ten::s7, Ten::s8, Ten::s9};
        new File(directory, "here-" + ProcessHandle.current().pid()).createNewFile();
        while (directory.list((at, name) -> name.startsWith("here-")).length < Integer.parseInt(args[1])) {
            Thread.onSpinWait();
        }
        int exceptions = 0;
        for (int round = 0; round < Integer.parseInt(args[2]); round++) {
            for (Runnable site : sites) {
                try {
                    site.run();
                } catch (IllegalStateException e) {
                    exceptions++;
                }
            }
        }
        System.out.println("exceptions " + exceptions);
    }
}
