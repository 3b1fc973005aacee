package probe;

/** `Ticks COUNT MS`: so many ticks, so many milliseconds apart; it says how many of them threw. */
public class Ticks {
    static void tick() {}

    public static void main(String[] args) throws Exception {
        int thrown = 0;
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            try {
                tick();
            } catch (IllegalStateException e) {
                thrown++;
            }
            Thread.sleep(Long.parseLong(args[1]));
        }
        System.out.println("thrown " + thrown);
    }
}
