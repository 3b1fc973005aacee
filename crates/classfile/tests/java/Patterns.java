import java.util.List;

/** What JDK 21 added: record patterns and switches over patterns. */
public class Patterns {
    sealed interface Shape permits Circle, Square, Pair {}
    record Circle(double radius) implements Shape {}
    record Square(long side) implements Shape {}
    record Pair(Shape left, Shape right) implements Shape {}
    enum Colour { RED, GREEN }

    static String name(Object value) {
        return switch (value) {
            case null -> "null";
            case Circle(double r) when r > 10 -> "big circle";
            case Circle c -> "circle " + c.radius();
            case Square(var s) -> "square " + s;
            case Pair(Circle(var r), Square(var s)) -> "pair " + r + " " + s;
            case Pair p -> name(p.left()) + "&" + name(p.right());
            case Colour c when c == Colour.RED -> "red";
            case String s -> "text " + s.length();
            case int[] a -> "array " + a.length;
            default -> "other";
        };
    }

    public static void main(String[] args) {
        var all = new Object[] {null, new Circle(11), new Circle(1), new Square(3),
            new Pair(new Circle(2), new Square(4)), new Pair(new Square(1), new Circle(20)), Colour.RED, Colour.GREEN,
            "hello", new int[3]};
        for (Object value : all) {
            System.out.println(name(value));
        }
        for (Object item : List.of(1, "a")) {
            if (item instanceof String s && !s.isEmpty()) {
                System.out.println(s);
            }
        }
        System.out.println("done");
    }
}
