package faults;

import java.io.*;
import java.net.Socket;
import java.util.Iterator;
import shelf.Shelf;
import shelf.Shelf.Archive;

/** Calls whose object is no stream and that work on an argument; each method has one call that is asked about. */
class Records {
    static class Plain implements Shelf.Record {
        @Override
        public void serialize(Archive to) throws IOException {
            to.put(1);
        }
    }

    static void inMemory(Shelf.Record it) throws IOException {
        it.serialize(Archive.on(new ByteArrayOutputStream()));
    }

    static void toFile(Shelf.Record it) throws IOException {
        it.serialize(Archive.on(new FileOutputStream("x")));
    }

    static void toSocket(Shelf.Record it, Socket socket) throws IOException {
        it.serialize(Archive.on(socket.getOutputStream()));
    }

    private static void mixed(Shelf.Record it, Archive to) throws IOException {
        it.serialize(to);
    }

    static void mixedCallers(Shelf.Record it) throws IOException {
        mixed(it, Archive.on(new ByteArrayOutputStream()));
        mixed(it, Archive.on(new FileOutputStream("x")));
    }

    private static void memory(Shelf.Record it, Archive to) throws IOException {
        it.serialize(to);
    }

    static void memoryCallers(Shelf.Record it) throws IOException {
        memory(it, Archive.on(new ByteArrayOutputStream()));
        memory(it, Archive.on(new BufferedOutputStream(new ByteArrayOutputStream())));
    }

    // Through methods of the system, one of which calls itself, and on a buffer of its own.
    static class InParts implements Shelf.Nested {
        @Override
        public void serialize(Archive to) throws IOException {
            parts(to, 3);
            DataOutputStream own = new DataOutputStream(new ByteArrayOutputStream());
            own.writeInt(1);
        }

        private static void parts(Archive to, int count) throws IOException {
            if (count > 0) {
                parts(to, count - 1);
            }
            to.put(count);
        }
    }

    static void nested(Shelf.Nested it) throws IOException {
        it.serialize(Archive.on(new ByteArrayOutputStream()));
    }

    static void nestedFile(Shelf.Nested it) throws IOException {
        it.serialize(Archive.on(new FileOutputStream("x")));
    }

    // What is given is not all that it writes to.
    static class WithFile implements Shelf.Filed {
        @Override
        public void serialize(Archive to) throws IOException {
            to.put(1);
            new FileOutputStream("x").write(1);
        }
    }

    static class WithoutFile implements Shelf.Filed {
        @Override
        public void serialize(Archive to) throws IOException {
            to.put(1);
        }
    }

    static void filed(Shelf.Filed it) throws IOException {
        it.serialize(Archive.on(new ByteArrayOutputStream()));
    }

    static class WithConnection implements Shelf.Deep {
        @Override
        public void serialize(Archive to) throws IOException {
            to.put(1);
            tell(new Socket("host", 1));
        }

        private static void tell(Socket socket) throws IOException {
            write(Archive.on(socket.getOutputStream()));
        }

        private static void write(Archive to) throws IOException {
            to.put(2);
        }
    }

    static void deep(Shelf.Deep it) throws IOException {
        it.serialize(Archive.on(new ByteArrayOutputStream()));
    }

    static class WithStream implements Shelf.Holding {
        private final OutputStream copy;

        WithStream(File file) throws IOException {
            copy = new FileOutputStream(file);
        }

        @Override
        public void serialize(Archive to) throws IOException {
            to.put(1);
            copy.write(1);
        }
    }

    static void holding(Shelf.Holding it) throws IOException {
        it.serialize(Archive.on(new ByteArrayOutputStream()));
    }

    static class Native implements Shelf.Opaque {
        @Override
        public native void serialize(Archive to) throws IOException;
    }

    static void opaque(Shelf.Opaque it) throws IOException {
        it.serialize(Archive.on(new ByteArrayOutputStream()));
    }

    static class WithTask implements Shelf.Handing {
        @Override
        public void serialize(Archive to) throws IOException {
            OutputStream log = new ByteArrayOutputStream();
            Streams.Work inMemory = () -> log.write(1);
            Streams.Work outside = () -> new FileOutputStream("x").write(1);
            to.put(inMemory.hashCode() + outside.hashCode());
        }
    }

    static void handing(Shelf.Handing it) throws IOException {
        it.serialize(Archive.on(new ByteArrayOutputStream()));
    }

    // What `next` runs elsewhere reads a file, but no `IOException` comes out of it.
    static class WithList implements Shelf.Listed {
        private final Iterable<Integer> values;

        WithList(Iterable<Integer> values) {
            this.values = values;
        }

        @Override
        public void serialize(Archive to) throws IOException {
            for (int it : values) {
                to.put(it);
            }
        }
    }

    static class Lines implements Iterator<Integer> {
        private final Reader in;

        Lines(File file) throws IOException {
            in = new FileReader(file);
        }

        @Override
        public boolean hasNext() {
            return true;
        }

        @Override
        public Integer next() {
            try {
                return in.read();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static void listed(File file) throws IOException {
        Iterator<Integer> lines = new Lines(file);
        Shelf.Listed it = new WithList(() -> lines);
        it.serialize(Archive.on(new ByteArrayOutputStream()));
    }

    static class WithText implements Shelf.Text {
        @Override
        public void serialize(Archive to) throws IOException {
            to.put("x".getBytes("UTF-8").length);
        }
    }

    static void text(Shelf.Text it) throws IOException {
        it.serialize(Archive.on(new ByteArrayOutputStream()));
    }

    // The name does not say that it works on what it is given.
    static class PlainEmitter implements Shelf.Emitter {
        @Override
        public void emit(Archive to) throws IOException {
            to.put(1);
        }
    }

    static void emitted(Shelf.Emitter it) throws IOException {
        it.emit(Archive.on(new ByteArrayOutputStream()));
    }

    // Nothing in sight implements it.
    static void unseen(Shelf.Unseen it) throws IOException {
        it.serialize(Archive.on(new ByteArrayOutputStream()));
    }
}
