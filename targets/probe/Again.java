package probe;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.logging.Logger;

/** One exception that goes by several names on its way: what is caught as something more general and thrown again stays what it is. */
public final class Again {
    private static final Logger LOG = Logger.getLogger(Again.class.getName());

    private Again() {}

    private static void expect(InputStream in) throws IOException {
        if (in.read() < 0) {
            throw new EOFException("nothing more");
        }
    }

    private static void passOn(InputStream in) throws IOException {
        try {
            expect(in); // site: expect
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }

    public static void main(String[] args) {
        try {
            passOn(System.in);
        } catch (IOException e) {
            LOG.warning("there was no answer");
        }
    }
}
