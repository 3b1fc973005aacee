package hypocenter.eval;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A name node and a data node with two volumes in one JVM: {@code OneDataNode DIR} starts them with their data below DIR, writes a
 * file, starts both anew on that data, and reads the file. Exit status 0 if the file was read, 1 if a node did not start. One of the
 * volumes may fail.
 */
public final class OneDataNode {
    private static final Logger LOG = LoggerFactory.getLogger(OneDataNode.class);
    private static final org.apache.hadoop.fs.Path FILE = new org.apache.hadoop.fs.Path("/greeting");
    private static final byte[] TEXT = "good morning\n".getBytes(StandardCharsets.US_ASCII);

    private OneDataNode() {}

    public static void main(String[] args) {
        if (args.length != 1) {
            System.err.println("usage: OneDataNode DIR");
            System.exit(64);
        }
        HdfsConfiguration conf = new HdfsConfiguration();
        String base = Path.of(args[0]).resolve("dfs").toAbsolutePath().toString();
        conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, base);
        conf.setInt("dfs.datanode.failed.volumes.tolerated", 1);
        boolean served;
        try {
            served = serve(conf);
        } catch (IOException error) {
            LOG.error("the cluster does not serve", error);
            served = false;
        }
        System.exit(served ? 0 : 1);
    }

    private static boolean serve(HdfsConfiguration conf) throws IOException {
        try (MiniDFSCluster cluster = start(conf, true); FileSystem files = cluster.getFileSystem()) {
            try (FSDataOutputStream out = files.create(FILE, (short) 1)) {
                out.write(TEXT);
            }
        }
        try (MiniDFSCluster cluster = start(conf, false); FileSystem files = cluster.getFileSystem()) {
            try (FSDataInputStream in = files.open(FILE)) {
                return in.readAllBytes().length == TEXT.length;
            }
        }
    }

    private static MiniDFSCluster start(HdfsConfiguration conf, boolean format) throws IOException {
        return new MiniDFSCluster.Builder(conf).numDataNodes(1).format(format).build();
    }
}
