import java.lang.management.ManagementFactory;

/** Runs LinkAll of {@code eval/corpus} and prints the CPU time of the whole JVM: {@code cpu NANOSECONDS}. */
public final class Load {
    private Load() {}

    public static void main(String[] args) throws Exception {
        LinkAll.main(args);
        com.sun.management.OperatingSystemMXBean system =
                (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        System.out.println("cpu " + system.getProcessCpuTime());
    }
}
