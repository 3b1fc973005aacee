package hits;

import java.util.ArrayList;
import java.util.List;

/** `Virtual THREADS HITS`: so many virtual threads reach one site so many times each, and change their carriers meanwhile. */
public class Virtual {
    static void hit() {}

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int hits = Integer.parseInt(args[1]);
        Runnable work = () -> {
            for (int n = 0; n < hits; n++) {
                hit();
                if (n % 64 == 0) {
                    Thread.yield();
                }
            }
        };
        // By reflection, because this is compiled for JVMs that do not have them.
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            type.getMethod("name", String.class).invoke(builder, "virtual-" + t);
            all.add((Thread) type.getMethod("start", Runnable.class).invoke(builder, work));
        }
        for (Thread thread : all) {
            thread.join();
        }
        System.out.println("done");
    }
}
