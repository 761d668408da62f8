package io.pendula.benchmarks.cases;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.ProcessorTime;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;

/** 10,000 tasks with a fixed rate of 10 ms, their phases spread: a million ticks a second. */
final class TicksCase implements PoolCase {
    private static final int TASKS = 10_000;
    private static final long PERIOD = MILLISECONDS.toNanos(10);
    /** The time to schedule them all, before the first is due. */
    private static final long LEAD = MILLISECONDS.toNanos(1_000);
    /** From then on; long enough for what is late while all this is compiled to be made up for. */
    private static final long WARM = MILLISECONDS.toNanos(2_500);
    private static final long MEASURED = MILLISECONDS.toNanos(3_000);
    /** Each so many-th task keeps its times. */
    private static final int SAMPLING = 16;

    @Override
    public String name() {
        return "ticks";
    }

    @Override
    public List<Map<String, String>> cells() {
        return Case.product("workers=1,2");
    }

    @Override
    public List<String> ratios() {
        return List.of("p50_us", "cpu_ns");
    }

    @Override
    public void run(Child child) throws Exception {
        ScheduledExecutorService pool = child.openPool();
        long start = System.nanoTime() + LEAD;
        Tick[] ticks = new Tick[TASKS];
        for (int i = 0; i < TASKS; i++) {
            ticks[i] = Tick.schedule(pool, start + PERIOD * i / TASKS, start + WARM, i % SAMPLING == 0);
        }
        if (System.nanoTime() > start) {
            throw new IllegalStateException("the first were due before the last was scheduled");
        }
        sleepUntil(start + WARM);
        long cpu0 = ProcessorTime.ofProcess();
        long runs0 = sum(ticks, t -> t.runs);
        sleepUntil(start + WARM + MEASURED);
        double cpu = ProcessorTime.ofProcess() - cpu0;
        long runs = sum(ticks, t -> t.runs) - runs0;
        Thread.sleep(NANOSECONDS.toMillis(PERIOD) * 2); // the last may still be kept

        Histogram lateness = new Histogram(3);
        for (Tick t : ticks) {
            for (int i = 0; i < t.sampled; i++) {
                lateness.recordValue(Math.max(0, t.lateness[i]));
            }
        }
        child.figure("kept_percent", 100.0 * sum(ticks, t -> t.kept) / (TASKS * (MEASURED / PERIOD)));
        child.figure("run_percent", 100.0 * runs / (TASKS * (MEASURED / PERIOD)));
        child.figures("", lateness);
        child.figure("cpu_ns", cpu / runs);
        child.figure("early", sum(ticks, t -> t.early));
    }

    private static void sleepUntil(long instant) throws InterruptedException {
        NANOSECONDS.sleep(instant - System.nanoTime());
    }

    private static long sum(Tick[] ticks, ToLongFunction<Tick> part) {
        long sum = 0;
        for (Tick t : ticks) {
            sum += part.applyAsLong(t);
        }
        return sum;
    }

    /** What it counts is written by one run at a time; that the sums are read a little too early does not matter. */
    private static final class Tick implements Runnable {
        /** A call that took longer leaves it open when the pool thinks the task is due. */
        private static final long QUICK = 20_000;

        private final long from;
        private long due;
        final int[] lateness;
        int sampled;
        long runs;
        long kept;
        long early;

        private Tick(long due, long from, boolean samples) {
            this.due = due;
            this.from = from;
            this.lateness = new int[samples ? (int) (MEASURED / PERIOD) + 1 : 0];
        }

        static Tick schedule(ScheduledExecutorService pool, long first, long from, boolean samples) {
            for (;;) {
                Tick tick = new Tick(first, from, samples);
                long before = System.nanoTime();
                ScheduledFuture<?> task = pool.scheduleAtFixedRate(tick, first - before, PERIOD, NANOSECONDS);
                if (System.nanoTime() - before < QUICK) {
                    return tick;
                }
                task.cancel(false);
            }
        }

        @Override
        public void run() {
            long late = System.nanoTime() - due;
            runs++;
            long since = due - from;
            due += PERIOD;
            if (since >= 0 && since < MEASURED) {
                kept += late < PERIOD ? 1 : 0;
                early += late < 0 ? 1 : 0;
                if (sampled < lateness.length) {
                    lateness[sampled++] = (int) Math.min(Integer.MAX_VALUE, late);
                }
            }
        }
    }
}
