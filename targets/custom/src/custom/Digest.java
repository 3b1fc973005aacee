package custom;

/** What a replica says of a range. */
record Digest(String replica, String range, String sum) {}
