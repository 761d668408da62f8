package io.pendula.benchmarks.cases;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.ProcessorTime;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** How soon a pool starts a task when its threads sleep. */
final class HandoverCase implements PoolCase {
    private static final int WARM_TASKS = 50_000;
    private static final int TASKS = 2_000;
    /** Long enough for every pool's threads to go to sleep. */
    private static final long GAP = 1_000_000;

    @Override
    public String name() {
        return "handover";
    }

    @Override
    public List<Map<String, String>> cells() {
        return Case.product("workers=1,2");
    }

    @Override
    public List<String> ratios() {
        return List.of("p50_us", "cpu_us");
    }

    @Override
    public void run(Child child) throws Exception {
        Executor pool = child.openPool();
        Set<Thread> excluded = new HashSet<>(Set.of(Thread.currentThread()));
        starts(pool, WARM_TASKS, 0);
        long cpu0 = ProcessorTime.ofThreadsBut(excluded);
        Histogram times = starts(pool, TASKS, GAP);
        child.figure("cpu_us", (ProcessorTime.ofThreadsBut(excluded) - cpu0) / 1e3 / TASKS);
        child.figures("", times);
    }

    /** From before the call of {@code execute} to the start of the task, one task at a time. */
    private static Histogram starts(Executor pool, int tasks, long gap) throws InterruptedException {
        Histogram times = new Histogram(3);
        Start start = new Start();
        for (int i = 0; i < tasks; i++) {
            long from = System.nanoTime();
            for (long end = from + gap; from < end; from = System.nanoTime()) {
                LockSupport.parkNanos(end - from); // returns at once if the semaphore has left a permit behind
            }
            pool.execute(start);
            start.ran.acquire();
            times.recordValue(start.at - from);
        }
        return times;
    }

    private static final class Start implements Runnable {
        final Semaphore ran = new Semaphore(0);
        long at;

        @Override
        public void run() {
            at = System.nanoTime();
            ran.release();
        }
    }
}
