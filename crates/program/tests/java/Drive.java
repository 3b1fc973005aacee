package fixture;

/** Runs the loops, whose hooks call {@link #hit}, and prints what was hit. */
public class Drive {
    static final StringBuilder TRAIL = new StringBuilder();

    public static void hit(int id) {
        TRAIL.append(' ').append("EIXB".charAt(id / 100)).append(id % 100);
    }

    static void show(String what) {
        System.out.println(what + ":" + TRAIL);
        TRAIL.setLength(0);
    }

    public static void main(String[] args) {
        Loops.plainFor(2);
        show("plainFor 2");
        Loops.plainFor(0);
        show("plainFor 0");
        Loops.work = 1;
        Loops.plainWhile(2);
        show("plainWhile 2");
        Loops.doWhile(2);
        show("doWhile 2");
        Loops.returnInside(new int[] {5, 6, 7}, 6);
        show("returnInside found");
        Loops.returnInside(new int[] {5}, 6);
        show("returnInside not found");
        Loops.work = 5;
        Loops.nested(2);
        show("nested through");
        Loops.work = 1;
        Loops.nested(3);
        show("nested continue and break");
        int[] left = {1};
        Runnable throwsOnce = () -> {
            if (left[0]-- > 0) {
                throw new IllegalStateException();
            }
        };
        Loops.retry(throwsOnce);
        show("retry once");
        Loops.finallyInside(throwsOnce, 1);
        show("finallyInside through");
        left[0] = 1;
        try {
            Loops.finallyInside(throwsOnce, 2);
        } catch (IllegalStateException e) {
            show("finallyInside thrown");
        }
        Loops.either(new int[] {1}, new int[] {2});
        show("either 1 2");
        Loops.both(new int[] {3}, new int[] {1});
        show("both 3 1");
        Loops.overList(java.util.List.of());
        show("overList 0");
        Loops.overList(java.util.List.of("a", "b"));
        show("overList 2");
        Loops.overArray(new int[2]);
        show("overArray 2");
        Loops.breakInTheMiddle(1);
        show("breakInTheMiddle 1");
        Loops.emptyBody(new int[] {2});
        show("emptyBody 2");
        Loops.assignInCondition(java.util.List.of("a").iterator());
        show("assignInCondition 1");
        Loops.testInTheBody(2);
        show("testInTheBody 2");
        Loops.continues(2);
        show("continues 2");
        Loops.ternary(1, true);
        show("ternary 1");
        Loops.conditional(1, true);
        show("conditional 1");
    }
}
