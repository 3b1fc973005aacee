package fixture;

/** Constants of every type; a class and null are none. */
class Constants {
    static int numbers(int number) {
        int sum = number;
        sum *= number + 5;
        sum *= number + 1000;
        sum *= number + 70000;
        sum *= number - -100;
        return sum / 5;
    }

    static void others() {
        take(1L);
        take(5000000000L);
        take(2f);
        take(0.5f);
        take(0d);
        take(2.5);
        take("a (b)/c");
        take(String.class);
        take(null);
    }

    static void take(Object value) {}
}
