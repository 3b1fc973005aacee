package chatter;

/** What somebody said about a topic. Its number comes from the client, so that it can be sent twice. */
record Post(int number, int topic, String text) {
    static Post parse(String line) {
        String[] parts = line.split(" ", 3);
        return new Post(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), parts[2]);
    }

    String line() {
        return number + " " + topic + " " + text;
    }
}
