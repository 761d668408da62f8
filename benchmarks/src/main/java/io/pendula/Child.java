package io.pendula;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/** A JVM that measures one subject in one cell of a case, and prints its figures in one line. */
final class Child {
    static final String FIGURES = "figures:";
    static final String SKIPPED = "skipped:";

    private static final OperatingSystemMXBean OS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Map<String, String> settings = new LinkedHashMap<>();
    private final Map<String, Double> figures = new LinkedHashMap<>();

    public static void main(String[] args) {
        Child child = new Child();
        for (int i = 1; i < args.length; i++) {
            String[] setting = args[i].split("=", 2);
            child.settings.put(setting[0], setting[1]);
        }
        int status = 0;
        try {
            Case.named(args[0]).run(child);
            StringBuilder line = new StringBuilder(FIGURES);
            child.figures.forEach((key, value) -> line.append(' ').append(key).append('=').append(value));
            System.out.println(line);
        } catch (UnsupportedOperationException e) {
            System.out.println(SKIPPED + " " + e.getMessage());
        } catch (Throwable e) {
            e.printStackTrace();
            status = 1;
        }
        System.out.flush();
        Runtime.getRuntime().halt(status); // closing a scheduler with a million timers would take long, and for nothing
    }

    // ---- settings and figures ----

    String text(String key) {
        String value = settings.get(key);
        if (value == null) {
            throw new IllegalArgumentException("missing: " + key);
        }
        return value;
    }

    boolean has(String key) {
        return settings.containsKey(key);
    }

    int number(String key) {
        return Integer.parseInt(text(key));
    }

    boolean is(String key) {
        return Boolean.parseBoolean(settings.get(key));
    }

    Rival open(int threads) {
        return SchedulerType.valueOf(text("type")).open(threads);
    }

    ScheduledExecutorService openPool() {
        return PoolType.valueOf(text("type")).open(number("threads"));
    }

    double figure(String key) {
        return figures.get(key);
    }

    void figure(String key, double value) {
        figures.put(key, value);
    }

    /** Median, 99th percentile and maximum. */
    void figures(String prefix, Histogram nanos) {
        figure(prefix + "p50_us", nanos.getValueAtPercentile(50) / 1e3);
        figure(prefix + "p99_us", nanos.getValueAtPercentile(99) / 1e3);
        figure(prefix + "max_us", nanos.getMaxValue() / 1e3);
    }

    // ---- throughput ----

    /** Runs a load on each of some threads, and takes the cost of a step; made by the thread that will step it. */
    void measure(int threads, IntFunction<Load> loads) throws InterruptedException {
        Lane[] lanes = new Lane[threads];
        CountDownLatch ready = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            lanes[i] = new Lane(i, loads, ready); // one right after the other, so that their ids are consecutive
        }
        for (Lane lane : lanes) {
            lane.setDaemon(true);
            lane.start();
        }
        ready.await();
        measure(threads, () -> Arrays.stream(lanes).mapToLong(l -> l.steps).sum(), lanes);
    }

    /**
     * Takes the cost of operations that go on meanwhile: the lowest of some windows, as disturbances only ever add, and
     * for the processor time of the process the median window too.
     */
    void measure(int threads, LongSupplier operations, Thread... allocating) throws InterruptedException {
        Thread.sleep(number("warmMs"));
        int windows = number("windows");
        double[] cpu = new double[windows];
        double wall = Double.MAX_VALUE;
        double bytes = Double.MAX_VALUE;
        for (int i = 0; i < windows; i++) {
            long bytes0 = allocatedBy(allocating);
            long cpu0 = OS.getProcessCpuTime();
            long wall0 = System.nanoTime();
            long operations0 = operations.getAsLong();
            double n;
            do {
                Thread.sleep(number("windowMs"));
                n = operations.getAsLong() - operations0;
            } while (n == 0); // on a machine this busy a window may pass with nothing done
            wall = Math.min(wall, (System.nanoTime() - wall0) * (double) threads / n);
            cpu[i] = (OS.getProcessCpuTime() - cpu0) / n;
            bytes = Math.min(bytes, (allocatedBy(allocating) - bytes0) / n);
        }
        Arrays.sort(cpu);
        figure("cpu_ns", cpu[0]);
        figure("cpu_median_ns", cpu[windows / 2]);
        figure("wall_ns", wall);
        if (allocating.length > 0) {
            figure("bytes", bytes);
        }
    }

    private static long allocatedBy(Thread... threads) {
        return Arrays.stream(threads).mapToLong(t -> THREADS.getThreadAllocatedBytes(t.getId())).sum();
    }

    private static final class Lane extends Thread {
        private static final int STEPS = 256;

        private final int index;
        private final IntFunction<Load> loads;
        private final CountDownLatch ready;
        volatile long steps;

        Lane(int index, IntFunction<Load> loads, CountDownLatch ready) {
            super("lane-" + index);
            this.index = index;
            this.loads = loads;
            this.ready = ready;
        }

        @Override
        public void run() {
            Load load;
            try {
                load = loads.apply(index);
                ready.countDown();
                ready.await();
            } catch (Throwable e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(1);
                return;
            }
            for (long done = 0; ; steps = done += STEPS) {
                for (int i = 0; i < STEPS; i++) {
                    load.step();
                }
            }
        }
    }

    // ---- sparse events ----

    /** All threads that live now. */
    static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet();
    }

    /**
     * Processor time of all Java threads but the given ones. It is exact where that of the process comes in ticks of
     * 10 ms, and leaves out what the JVM does when it is idle.
     */
    static long cpuOfOthers(Set<Thread> excluded) {
        return threads().stream().filter(t -> !excluded.contains(t))
                .mapToLong(t -> Math.max(0, THREADS.getThreadCpuTime(t.getId()))).sum();
    }

    static long cpuOfCaller() {
        return THREADS.getCurrentThreadCpuTime();
    }

    static long processCpu() {
        return OS.getProcessCpuTime();
    }

    /** Keeps every processor busy until the JVM ends. */
    static void spin() {
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            Thread t = new Thread(() -> {
                for (;;) {
                    Thread.onSpinWait();
                }
            }, "spin-" + i);
            t.setDaemon(true);
            t.start();
        }
    }
}
