package snapshot;

import java.io.IOException;

/** Requests of clients. */
interface Requests {
    String set(String key, String value) throws IOException;

    String get(String key) throws IOException;
}
