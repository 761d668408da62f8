package io.pendula.benchmarks.cases;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.ProcessorTime;
import io.pendula.benchmarks.loads.Purgatory;
import io.pendula.benchmarks.loads.Restarts;
import io.pendula.benchmarks.peers.SchedulerType;
import io.pendula.benchmarks.rivals.Rival;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.HdrHistogram.Histogram;

/**
 * Benchmarks that others wrote, in our words.
 *
 * <ul>
 * <li>"million": a million waits of 10 s, by Piotr Kołaczkowski, "How Much Memory Do You Need to Run 1 Million
 *     Concurrent Tasks?" (2023). A timer is less than a task: it has no stack and no state of its own.
 * <li>"cancel": so many timers are armed and then stopped, the first first or the last first, as in Netty's
 *     {@code ScheduledFutureTaskBenchmark}.
 * <li>"restart": a connection's timeout of 10 to 11 s is stopped and a new one armed at each message, as in libev's
 *     {@code bench.c} with timeouts, but without its sockets. "by=reset" is how it does that with libev's own timers.
 * <li>"drift": sleeps of a millisecond, one after the other, as in cats-effect's {@code SleepDrift}: what each takes
 *     beyond its millisecond.
 * <li>"purgatory": requests with a time limit that come at random instants and most of which are answered before, as in
 *     Kafka's {@code TestPurgatoryPerformance}.
 * </ul>
 */
final class ForeignCase implements Case {
    private static final int MILLION = 1_000_000;
    private static final int WAIT_MILLIS = 10_000;
    private static final int WARM_MILLIS = 1_000;
    private static final int WINDOW_MILLIS = 1_000;
    /** Messages between two looks at the clock, so that these cost nothing. */
    private static final int BETWEEN_LOOKS = 1_000;
    private static final int WARM_SLEEPS = 300;
    private static final int SLEEPS = 1_000;
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String MOST_RESIDENT = "VmHWM:";

    @Override
    public String name() {
        return "foreign";
    }

    @Override
    public List<Map<String, String>> cells() {
        List<Map<String, String>> cells = new ArrayList<>(Case.product("op=million"));
        cells.addAll(Case.product("op=cancel", "timers=1000,100000", "first=oldest,youngest"));
        cells.addAll(Case.product("op=restart", "timers=1000,100000", "by=cancel,reset"));
        cells.addAll(Case.product("op=drift"));
        cells.addAll(Case.product("op=purgatory", "rate=20000"));
        return cells;
    }

    @Override
    public List<String> ratios() {
        return List.of("rss_mb", "cpu_ns", "drift_us", "cpu_us");
    }

    @Override
    public void run(Child child) throws Exception {
        Rival rival = child.subject().open(SchedulerType.AS_BUILT);
        switch (child.text("op")) {
            case "million" -> million(child, rival);
            case "cancel" -> cancel(child, rival);
            case "restart" -> restart(child, rival);
            case "drift" -> drift(child, rival);
            case "purgatory" -> purgatory(child, rival);
            default -> throw new IllegalArgumentException("no such op: '" + child.text("op") + "'");
        }
    }

    private static void million(Child child, Rival rival) throws InterruptedException, IOException {
        int count = child.number("count", MILLION);
        long delay = MILLISECONDS.toNanos(child.number("waitMs", WAIT_MILLIS));
        CountDownLatch left = new CountDownLatch(count);
        Rival.Task task = left::countDown;
        long cpu0 = ProcessorTime.ofProcess();
        long began = System.nanoTime();
        for (int i = 0; i < count; i++) {
            rival.schedule(delay, task);
        }
        left.await();
        child.figure("wall_ms", (System.nanoTime() - began) / 1e6);
        child.figure("cpu_ms", (ProcessorTime.ofProcess() - cpu0) / 1e6);
        if (Files.isReadable(STATUS)) {
            child.figure("rss_mb", mostResident(Files.readAllLines(STATUS)));
        }
    }

    /** In MB, of the lines of a process' status. */
    static double mostResident(List<String> status) {
        return status.stream().filter(line -> line.startsWith(MOST_RESIDENT))
                .mapToDouble(line -> Double.parseDouble(line.replaceAll("\\D", "")) / 1024).findFirst().orElseThrow();
    }

    private static void cancel(Child child, Rival rival) {
        Object[] handles = new Object[child.number("timers")];
        boolean oldest = child.text("first").equals("oldest");
        cancel(rival, handles, oldest, child.number("warmMs", WARM_MILLIS));
        long cpu0 = ProcessorTime.ofProcess();
        long began = System.nanoTime();
        double count = cancel(rival, handles, oldest, child.number("windowMs", WINDOW_MILLIS));
        child.figure("cpu_ns", (ProcessorTime.ofProcess() - cpu0) / count);
        child.figure("wall_ns", (System.nanoTime() - began) / count);
    }

    /** Returns how many timers were armed and stopped in about so much time. */
    private static long cancel(Rival rival, Object[] handles, boolean oldest, long millis) {
        long end = System.nanoTime() + MILLISECONDS.toNanos(millis);
        long count = 0;
        do {
            for (int i = 0; i < handles.length; i++) {
                handles[i] = rival.schedule(SECONDS.toNanos(100) + i, Rival.Task.NOTHING);
            }
            for (int i = 0; i < handles.length; i++) {
                rival.cancel(handles[oldest ? i : handles.length - 1 - i]);
            }
            count += handles.length;
        } while (System.nanoTime() < end);
        return count;
    }

    private static void restart(Child child, Rival rival) {
        Restarts restarts = new Restarts(rival, child.number("timers"), child.text("by").equals("reset"));
        restart(restarts, child.number("warmMs", WARM_MILLIS));
        long cpu0 = ProcessorTime.ofProcess();
        long began = System.nanoTime();
        double count = restart(restarts, child.number("windowMs", WINDOW_MILLIS));
        child.figure("cpu_ns", (ProcessorTime.ofProcess() - cpu0) / count);
        child.figure("wall_ns", (System.nanoTime() - began) / count);
    }

    /** Returns how many messages came in about so much time. */
    private static long restart(Restarts restarts, long millis) {
        long end = System.nanoTime() + MILLISECONDS.toNanos(millis);
        long count = 0;
        do {
            for (int i = 0; i < BETWEEN_LOOKS; i++) {
                restarts.step();
            }
            count += BETWEEN_LOOKS;
        } while (System.nanoTime() < end);
        return count;
    }

    private static void drift(Child child, Rival rival) throws InterruptedException {
        sleeps(rival, WARM_SLEEPS);
        Set<Thread> none = Set.of();
        long cpu0 = ProcessorTime.ofThreadsBut(none);
        int count = child.number("firings", SLEEPS);
        child.figure("drift_us", sleeps(rival, count) / 1e3 / count);
        child.figure("cpu_us", (ProcessorTime.ofThreadsBut(none) - cpu0) / 1e3 / count);
    }

    /** Returns the time beyond so many milliseconds, in nanoseconds. */
    private static double sleeps(Rival rival, int count) throws InterruptedException {
        Semaphore over = new Semaphore(0);
        long began = System.nanoTime();
        rival.schedule(MILLISECONDS.toNanos(1), new Rival.Task() {
            private int left = count;

            @Override
            public void run() {
                if (--left == 0) {
                    over.release();
                } else {
                    rival.schedule(MILLISECONDS.toNanos(1), this);
                }
            }
        });
        over.acquire();
        return System.nanoTime() - began - MILLISECONDS.toNanos(count);
    }

    private static void purgatory(Child child, Rival rival) throws InterruptedException {
        int rate = child.number("rate");
        Purgatory.run(rival, rate, child.number("warmMs", WARM_MILLIS));
        Set<Thread> none = Set.of();
        long cpu0 = ProcessorTime.ofThreadsBut(none);
        Purgatory measured = Purgatory.run(rival, rate, child.number("windowMs", 3 * WINDOW_MILLIS));
        Histogram lateness = measured.lateness();
        child.figure("cpu_us", (ProcessorTime.ofThreadsBut(none) - cpu0) / 1e3 / measured.requests());
        child.figure("requests", measured.requests());
        child.figure("expired", lateness.getTotalCount());
        child.figure("p50_us", lateness.getValueAtPercentile(50) / 1e3);
        child.figure("p99_us", lateness.getValueAtPercentile(99) / 1e3);
    }
}
