package io.pendula.benchmarks.designs;

import io.pendula.benchmarks.rivals.Rival;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;

/**
 * A design whose timer thread runs no callback itself, but hands each to a thread of a pool, as Go did up to 1.13: there
 * the timer thread only made the callback's goroutine ready, and one of the processors' threads ran it. The pool steals
 * work as Go's processors do, and has as many threads.
 *
 * <p>Costs: a firing is two thread switches if all are asleep, that of the timer thread and that of the pool's, and an
 * object. In exchange a callback that takes long delays the others only when it has all of the pool's threads.
 *
 * <p>Pendula's workers sleep for the deadlines themselves, as those of {@link Go114} do.
 */
final class HandedOver implements Rival {
    private final Rival timers;
    private final ForkJoinPool pool;

    HandedOver(Rival timers, int threads) {
        this.timers = timers;
        this.pool = new ForkJoinPool(threads, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true);
    }

    private Task handed(Task task) {
        return () -> {
            try {
                pool.execute(task);
            } catch (RejectedExecutionException e) {
                // closed; the timer thread is about to end, too
            }
        };
    }

    @Override
    public Object schedule(long delayNanos, Task task) {
        return timers.schedule(delayNanos, handed(task));
    }

    @Override
    public boolean cancel(Object handle) {
        return timers.cancel(handle);
    }

    @Override
    public Object reset(Object handle, long delayNanos, Task task) {
        return timers.reset(handle, delayNanos, handed(task));
    }

    @Override
    public void close() {
        timers.close();
        pool.shutdownNow();
    }
}
