package io.pendula.benchmarks.cases;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.ProcessorTime;
import io.pendula.benchmarks.harness.Results;
import io.pendula.benchmarks.peers.PoolType;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;

/**
 * The JDK's benchmark {@code DelayedTasks} in our words: a pool is opened, gets so many tasks, which the caller cancels,
 * or as many virtual threads, or which are run, and is closed. To open and close the pool, and to start its threads, is
 * a part of each round; the cell of one task tells how large.
 */
final class DelayedCase implements PoolCase {
    private static final int WARM_MILLIS = 1_000;
    private static final int WINDOW_MILLIS = 250;
    private static final int WINDOWS = 5;
    private static final Runnable NOTHING = () -> {};

    @Override
    public String name() {
        return "delayed";
    }

    @Override
    public List<Map<String, String>> cells() {
        List<Map<String, String>> cells = new ArrayList<>();
        cells.addAll(Case.product("by=caller", "tasks=1,100,10000"));
        cells.addAll(Case.product("by=run,virtual", "tasks=100,10000"));
        return cells;
    }

    @Override
    public List<String> ratios() {
        return List.of("round_us", "cpu_us");
    }

    @Override
    public void run(Child child) throws Exception {
        int tasks = child.number("tasks");
        Round round = switch (child.text("by")) {
            case "caller" -> pool -> cancelAll(pool, tasks);
            case "run" -> pool -> runAll(pool, tasks);
            case "virtual" -> {
                ExecutorService cancelling = virtualThreads();
                yield pool -> cancelAll(pool, tasks, cancelling);
            }
            default -> throw new IllegalArgumentException("no such by: '" + child.text("by") + "'");
        };
        rounds(child, round, child.number("warmMs", WARM_MILLIS));
        int windows = child.number("windows", WINDOWS);
        double[] wall = new double[windows];
        double[] cpu = new double[windows];
        for (int i = 0; i < windows; i++) {
            long cpu0 = ProcessorTime.ofProcessInTicks();
            long began = System.nanoTime();
            double count = rounds(child, round, child.number("windowMs", WINDOW_MILLIS));
            wall[i] = (System.nanoTime() - began) / 1e3 / count;
            cpu[i] = (ProcessorTime.ofProcessInTicks() - cpu0) / 1e3 / count;
        }
        child.figure("round_us", Results.Spread.of(wall).median());
        child.figure("cpu_us", Results.Spread.of(cpu).median());
    }

    private interface Round {
        void of(ScheduledExecutorService pool) throws Exception;
    }

    /** Each with a pool of its own. */
    private static int rounds(Child child, Round round, long millis) throws Exception {
        long end = System.nanoTime() + MILLISECONDS.toNanos(millis);
        int count = 0;
        do {
            ScheduledExecutorService pool = open(child.subject().type(PoolType.class));
            round.of(pool);
            pool.shutdown();
            if (!pool.awaitTermination(1, MINUTES)) {
                throw new IllegalStateException("the pool does not end");
            }
            count++;
        } while (System.nanoTime() < end);
        return count;
    }

    /** The JDK's scheduled pool has one thread there, the others as many as there are processors. */
    private static ScheduledExecutorService open(PoolType type) {
        return type.open(type == PoolType.STPE ? 1 : Runtime.getRuntime().availableProcessors());
    }

    private static void cancelAll(ScheduledExecutorService pool, int tasks) {
        List<Future<?>> futures = new ArrayList<>(tasks);
        for (int i = 0; i < tasks; i++) {
            futures.add(pool.schedule(NOTHING, 1, HOURS));
        }
        futures.forEach(future -> future.cancel(false));
    }

    private static void cancelAll(ScheduledExecutorService pool, int tasks, ExecutorService cancelling)
            throws Exception {
        List<Future<?>> cancels = new ArrayList<>(tasks);
        for (int i = 0; i < tasks; i++) {
            ScheduledFuture<?> future = pool.schedule(NOTHING, 1, HOURS);
            cancels.add(cancelling.submit(() -> future.cancel(false)));
        }
        for (Future<?> cancel : cancels) {
            cancel.get();
        }
    }

    private static void runAll(ScheduledExecutorService pool, int tasks) throws Exception {
        List<Future<?>> futures = new ArrayList<>(tasks);
        for (int i = 0; i < tasks; i++) {
            futures.add(pool.schedule(NOTHING, 10, MILLISECONDS));
        }
        for (Future<?> future : futures) {
            future.get();
        }
    }

    /** Since JDK 21. */
    private static ExecutorService virtualThreads() throws IllegalAccessException, InvocationTargetException {
        try {
            return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (NoSuchMethodException e) {
            throw new UnsupportedOperationException("no virtual threads before JDK 21", e);
        }
    }
}
