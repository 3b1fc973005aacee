package hypocenter.eval;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.examples.arithmetic.AssignmentMessage;
import org.apache.ratis.examples.arithmetic.expression.DoubleValue;
import org.apache.ratis.examples.arithmetic.expression.Expression;
import org.apache.ratis.examples.arithmetic.expression.Variable;
import org.apache.ratis.examples.common.SubCommandBase;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.GroupInfoReply;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.TimeDuration;

/**
 * Client of the arithmetic example.
 *
 * <p>{@code steps PEERS NODE STEPS} makes STEPS steps and prints {@code progress N} after the N-th. A step assigns a new value to a
 * variable of this client, which the leader does, and reads it back from NODE. The middle step also asks NODE for a snapshot. A step
 * is tried again when it fails, and the client gives up, with exit status 1, when a step takes longer than its limit or reads a wrong
 * value.
 *
 * <p>{@code alive PEERS NODE} asks NODE about itself. The exit status is 0 if it leads, or follows a leader that it knows, and says
 * that its storage is healthy.
 */
public final class RatisClient {
    /** The group that the servers of the example form unless told otherwise. */
    private static final String GROUP = "demoRaftGroup123";
    private static final long REQUEST_TIMEOUT_MS = 2_000;
    /** Longer, since it is asked once: a healthy node on a busy machine must not look dead. */
    private static final long ALIVE_TIMEOUT_MS = 5_000;
    private static final long STEP_LIMIT_MS = 10_000;
    private static final long RETRY_PAUSE_MS = 100;
    private static final int REQUEST_ATTEMPTS = 2;

    private final RaftGroup group;
    private final RaftPeerId node;
    private final Variable variable;
    private final RaftClient client;

    private RatisClient(String peers, String node, long timeoutMs, int attempts) {
        this.group = RaftGroup.valueOf(
                RaftGroupId.valueOf(ByteString.copyFromUtf8(GROUP)), SubCommandBase.parsePeers(peers));
        this.node = RaftPeerId.valueOf(node);
        this.variable = new Variable("of" + node);
        RaftProperties properties = new RaftProperties();
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties, milliseconds(timeoutMs));
        this.client = RaftClient.newBuilder()
                .setProperties(properties)
                .setRaftGroup(group)
                .setRetryPolicy(RetryPolicies.retryUpToMaximumCountWithFixedSleep(
                        attempts, milliseconds(RETRY_PAUSE_MS)))
                .build();
    }

    public static void main(String[] args) throws InterruptedException {
        boolean steps = args.length == 4 && args[0].equals("steps");
        boolean alive = args.length == 3 && args[0].equals("alive");
        if (!steps && !alive) {
            System.err.println("usage: RatisClient steps PEERS NODE STEPS | alive PEERS NODE");
            System.exit(64);
        }
        RatisClient client = steps
                ? new RatisClient(args[1], args[2], REQUEST_TIMEOUT_MS, REQUEST_ATTEMPTS)
                : new RatisClient(args[1], args[2], ALIVE_TIMEOUT_MS, 0);
        boolean good = steps ? client.steps(Integer.parseInt(args[3])) : client.alive();
        // Without waiting for the connections to close: a server may be gone.
        System.exit(good ? 0 : 1);
    }

    private boolean steps(int count) throws InterruptedException {
        for (int step = 1; step <= count; step++) {
            if (!completed(step, step == (count + 1) / 2)) {
                return false;
            }
            System.out.println("progress " + step);
        }
        return true;
    }

    /** Repeats a step until it succeeds or its time is over. Assigning the same value again does no harm. */
    private boolean completed(int step, boolean snapshot) throws InterruptedException {
        long started = System.nanoTime();
        while (true) {
            try {
                long index = successful(client.io().send(new AssignmentMessage(variable, new DoubleValue(step))));
                double read = read(index);
                if (read != step) {
                    System.out.println("read " + read + " from " + node + " at index " + index + ", assigned " + step);
                    return false;
                }
                if (snapshot) {
                    successful(client.getSnapshotManagementApi(node).create(true, REQUEST_TIMEOUT_MS));
                }
                return true;
            } catch (IOException e) {
                System.out.println("step " + step + " failed: " + e);
                if (System.nanoTime() - started > TimeUnit.MILLISECONDS.toNanos(STEP_LIMIT_MS)) {
                    return false;
                }
                Thread.sleep(RETRY_PAUSE_MS);
            }
        }
    }

    /** The value that the node has once it has applied the log up to an index. */
    private double read(long index) throws IOException {
        RaftClientReply reply = client.io().sendStaleRead(Expression.Utils.toMessage(variable), index, node);
        successful(reply);
        byte[] content = reply.getMessage().getContent().toByteArray();
        return Expression.Utils.bytes2Expression(content, 0).evaluate(null);
    }

    private boolean alive() {
        try {
            GroupInfoReply reply = client.getGroupManagementApi(node).info(group.getGroupId());
            successful(reply);
            RoleInfoProto role = reply.getRoleInfoProto();
            boolean leads = role.getRole() == RaftPeerRole.LEADER;
            boolean follows = role.getRole() == RaftPeerRole.FOLLOWER
                    && !role.getFollowerInfo().getLeaderInfo().getId().getId().isEmpty();
            System.out.println(node + " is " + role.getRole() + ", storage healthy: " + reply.isRaftStorageHealthy());
            return (leads || follows) && reply.isRaftStorageHealthy();
        } catch (IOException e) {
            System.out.println(node + " gives no information: " + e);
            return false;
        }
    }

    /** The log index of a reply, which must be a success. */
    private static long successful(RaftClientReply reply) throws IOException {
        if (!reply.isSuccess()) {
            throw new IOException("unsuccessful reply " + reply, reply.getException());
        }
        return reply.getLogIndex();
    }

    private static TimeDuration milliseconds(long number) {
        return TimeDuration.valueOf(number, TimeUnit.MILLISECONDS);
    }
}
