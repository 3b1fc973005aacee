package shelflib;

/** A library whose calls declare an exception that cannot be made itself, since it is abstract. */
public final class Rack {
    private int filled;

    /** What may go wrong with a rack. */
    public abstract static class RackException extends Exception {
        RackException(String message) {
            super(message);
        }
    }

    /** The rack has no room left. */
    public static final class FullException extends RackException {
        public FullException(String message) {
            super(message);
        }
    }

    public int put(int size) throws RackException {
        filled += size;
        if (filled < 0) {
            throw new FullException("no room left");
        }
        return filled;
    }
}
