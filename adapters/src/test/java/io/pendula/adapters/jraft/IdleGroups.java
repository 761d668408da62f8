package io.pendula.adapters.jraft;

import com.alipay.sofa.jraft.JRaftUtils;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * What idle Raft groups cost a process: run with and without the adapter's service file on the class path. Prints one
 * line: the factory, seconds until all groups had leaders, milliseconds of processor time a second, threads in all,
 * threads for timers, groups that have a leader at the end.
 */
final class IdleGroups {
    private IdleGroups() {}

    public static void main(String[] args) throws Exception {
        int groups = Integer.parseInt(args[1]);
        int members = Integer.parseInt(args[2]);
        int seconds = Integer.parseInt(args[3]);
        boolean shared = Boolean.parseBoolean(args[4]);
        int electionTimeoutMillis = Integer.parseInt(args[5]);
        long start = System.nanoTime();
        RaftGroups raft = new RaftGroups(Path.of(args[0]), groups, members, electionTimeoutMillis, shared);
        // So many groups need longer for it than the patience of other tests; the calling test's limit ends it.
        while (!IntStream.range(0, groups).allMatch(g -> raft.leader(g) != null)) {
            Thread.sleep(100);
        }
        double untilLeaders = (System.nanoTime() - start) / 1e9;
        sleep(seconds); // until compilers and what elections have left behind are quiet
        long began = System.nanoTime();
        long before = cpuNanos();
        sleep(seconds);
        long millis = (cpuNanos() - before) / 1_000_000;
        double elapsed = (System.nanoTime() - began) / 1e9;
        long leaders = IntStream.range(0, groups).filter(g -> raft.leader(g) != null).count();
        long timers = Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                .filter(name -> name.startsWith("JRaft-") && (name.contains("Timer") || name.contains("ScheduleThreadPool"))
                        || name.startsWith("pendula-")).count();
        System.out.printf(Locale.ROOT, "FIGURES %s %.1f %.1f %d %d %d%n", JRaftUtils.raftTimerFactory().getClass().getSimpleName(),
                untilLeaders, millis / elapsed, ManagementFactory.getThreadMXBean().getThreadCount(), timers, leaders);
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void sleep(int seconds) throws InterruptedException {
        Thread.sleep(TimeUnit.SECONDS.toMillis(seconds));
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }
}
