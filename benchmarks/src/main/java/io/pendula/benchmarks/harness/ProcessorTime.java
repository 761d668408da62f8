package io.pendula.benchmarks.harness;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Processor time that was used so far: sums that never fall. A thread that ends keeps in them what it had used when it
 * was last looked at; without that, all that it ever used would be missing from the span in which it ends. A thread that
 * begins and ends between two looks is missed.
 */
public final class ProcessorTime {
    private static final Path TASKS = Path.of("/proc/self/task");
    private static final boolean IS_TOLD_BY_TASK = Files.isReadable(TASKS.resolveSibling("schedstat"));
    private static final OperatingSystemMXBean OS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final ProcessorTime OF_TASKS = new ProcessorTime();
    private static final ProcessorTime OF_THREADS = new ProcessorTime();

    /** What each thread had used when it was last looked at. */
    private final Map<Object, Long> used = new HashMap<>();
    /** What threads had used whose number another one has now. */
    private long ended;

    ProcessorTime() {}

    /** Of this process, the JVM's own threads included. Where the system does not tell it by thread, in ticks of 10 ms. */
    public static long ofProcess() {
        if (!IS_TOLD_BY_TASK) {
            return ofProcessInTicks();
        }
        synchronized (OF_TASKS) {
            try (Stream<Path> tasks = Files.list(TASKS)) {
                tasks.forEach(task -> OF_TASKS.look(task.getFileName().toString(), ofTask(task)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return OF_TASKS.sum(Set.of());
        }
    }

    /** Of this process, in ticks of 10 ms on Linux: for spans of many such ticks in which threads begin and end. */
    public static long ofProcessInTicks() {
        return OS.getProcessCpuTime();
    }

    /** Of all Java threads but the given ones, to the nanosecond. */
    public static long ofThreadsBut(Set<Thread> excluded) {
        synchronized (OF_THREADS) {
            Thread.getAllStackTraces().keySet().forEach(t -> OF_THREADS.look(t, THREADS.getThreadCpuTime(t.getId())));
            return OF_THREADS.sum(excluded);
        }
    }

    public static long ofCaller() {
        return THREADS.getCurrentThreadCpuTime();
    }

    /** @param nanos negative if the thread has ended meanwhile */
    void look(Object thread, long nanos) {
        long before = used.getOrDefault(thread, 0L);
        if (nanos >= 0) {
            ended += nanos < before ? before : 0;
            used.put(thread, nanos);
        }
    }

    long sum(Set<?> excluded) {
        return ended + used.entrySet().stream().filter(e -> !excluded.contains(e.getKey()))
                .mapToLong(Map.Entry::getValue).sum();
    }

    private static long ofTask(Path task) {
        try {
            return Long.parseLong(Files.readString(task.resolve("schedstat")).split(" ", 2)[0]);
        } catch (IOException e) {
            return -1;
        }
    }
}
