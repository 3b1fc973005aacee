package shelf;

import java.io.*;

/** A library: what can be put into archives, which the system implements. */
public class Shelf {
    public static class Archive {
        private final DataOutputStream out;

        private Archive(OutputStream out) {
            this.out = new DataOutputStream(out);
        }

        public static Archive on(OutputStream out) {
            return new Archive(out);
        }

        public void put(int value) throws IOException {
            out.writeInt(value);
        }
    }

    public interface Record {
        void serialize(Archive to) throws IOException;
    }

    public interface Nested {
        void serialize(Archive to) throws IOException;
    }

    public interface Filed {
        void serialize(Archive to) throws IOException;
    }

    public interface Deep {
        void serialize(Archive to) throws IOException;
    }

    public interface Holding {
        void serialize(Archive to) throws IOException;
    }

    public interface Opaque {
        void serialize(Archive to) throws IOException;
    }

    public interface Handing {
        void serialize(Archive to) throws IOException;
    }

    public interface Listed {
        void serialize(Archive to) throws IOException;
    }

    public interface Text {
        void serialize(Archive to) throws IOException;
    }

    public interface Emitter {
        void emit(Archive to) throws IOException;
    }

    public interface Unseen {
        void serialize(Archive to) throws IOException;
    }
}
