package probe;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;

/** Writes through a class of the JDK that was loaded long before any agent could patch it. */
public class Files {
    public static void main(String[] args) throws Exception {
        File file = File.createTempFile("probe", null);
        // Printed at the end by another thread, because printing goes through the same class.
        StringBuilder said = new StringBuilder();
        Thread writer = new Thread(() -> {
            for (int round = 1; round <= 3; round++) {
                try (FileOutputStream out = new FileOutputStream(file)) {
                    out.write(new byte[8], 0, 8);
                    said.append("round " + round + ": fine\n");
                } catch (IOException e) {
                    StackTraceElement top = e.getStackTrace()[0];
                    said.append("round " + round + ": " + e + " at " + top.getClassName() + "." + top.getMethodName() + "\n");
                }
            }
        }, "writer");
        writer.start();
        writer.join();
        file.delete();
        System.out.print(said);
    }
}
