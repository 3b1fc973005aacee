package balancer;

/** A part of a table. The regions of the table {@code meta} are the catalogue: a row for each region of the others. */
record Region(String table, int number, boolean meta) {
    static Region of(String table, int number) {
        return new Region(table, number, false);
    }

    /** The part of the catalogue that has the row of this region. */
    Region row() {
        return new Region("meta", number, true);
    }

    String name() {
        return table + "," + number;
    }

    static Region parse(String name) throws BadNameException {
        int comma = name.indexOf(',');
        if (comma < 1) {
            throw new BadNameException("no region: " + name);
        }
        return of(name.substring(0, comma), Integer.parseInt(name.substring(comma + 1)));
    }
}
