import java.io.DataOutputStream;
import java.io.BufferedOutputStream;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes the classes below some folders of the JDK's own modules into one file: length and bytes of each. */
public class Dump {
    public static void main(String[] args) throws Exception {
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(
                Files.newOutputStream(Path.of(args[0]))))) {
            for (int i = 1; i < args.length; i++) {
                Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/" + args[i]);
                List<Path> files;
                try (Stream<Path> walk = Files.walk(root)) {
                    files = walk.filter(p -> p.toString().endsWith(".class")).sorted().collect(Collectors.toList());
                }
                for (Path file : files) {
                    byte[] bytes = Files.readAllBytes(file);
                    out.writeInt(bytes.length);
                    out.write(bytes);
                }
            }
        }
    }
}
