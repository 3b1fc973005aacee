package probe;

/** Many objects that live at once, each seen by several threads. */
public class Identity {
    public static void main(String[] args) throws Exception {
        Object[] all = new Object[Integer.parseInt(args[0])];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Object();
        }
        Thread[] readers = new Thread[2];
        for (int i = 0; i < readers.length; i++) {
            readers[i] = new Thread(() -> read(all), "reader-" + i);
            readers[i].start();
        }
        for (Thread reader : readers) {
            reader.join();
        }
        System.out.println("done");
    }

    static void read(Object[] all) {
        for (int i = 0; i < all.length; i++) {
            if (all[i] == null) {
                throw new AssertionError();
            }
        }
    }
}
