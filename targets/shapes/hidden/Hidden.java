package shapes.hidden;

/** Visible to its package only. */
class Hidden extends Exception {
    Hidden(String message) { super(message); }
}
