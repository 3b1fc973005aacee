package shards;

/** The cell cannot do as it is asked. */
final class CellException extends Exception {
    CellException(String message) {
        super(message);
    }
}
