package io.pendula.adapters.internal;

import io.pendula.SchedulerExecutor;
import io.pendula.TimerScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * One-shot timeouts on a scheduler that can be stopped all at once, while the scheduler goes on. Safe for use by all
 * threads.
 *
 * @param <T> the timeouts of an adapter
 *
 * @since 0.1
 */
public final class Timeouts<T extends OneTimeout> {
    private final TimerScheduler scheduler;
    private final SchedulerExecutor view;
    /** The thread that is collecting what it has stopped, or null. */
    private volatile Thread collector;
    /** Of the collector. */
    private List<OneTimeout> collected;

    /**
     * None, at first.
     *
     * @param scheduler stays open
     * @throws NullPointerException if {@code scheduler} is null
     */
    public Timeouts(TimerScheduler scheduler) {
        this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        this.view = scheduler.asScheduledExecutorService();
    }

    /**
     * Arms a timeout.
     *
     * @param timeout new, and made for this
     * @param delay how long to wait, in {@code unit}s
     * @param unit the unit of {@code delay}
     * @return the timeout
     * @throws IllegalStateException if these timeouts are stopped, or the scheduler closed
     * @throws RejectedExecutionException if the scheduler has as many timers as its {@code maxPending} allows
     */
    public T arm(T timeout, long delay, TimeUnit unit) {
        try {
            timeout.armed(view.schedule(timeout, delay, unit));
            return timeout;
        } catch (RejectedExecutionException e) {
            if (view.isShutdown()) {
                throw new IllegalStateException("the timer on " + scheduler + " is stopped", e);
            }
            throw e;
        }
    }

    /**
     * Takes no more timeouts, cancels those that have not run, and interrupts those that run. Does not wait.
     *
     * @return what was cancelled; empty if stopped before
     */
    @SuppressWarnings("unchecked") // nothing else was armed
    public List<T> stop() {
        return (List<T>) collect(view.shutdownNow());
    }

    /** Cancels the timeouts behind the futures that the executor gave back: each runs its timeout, which ends here. */
    private synchronized List<OneTimeout> collect(List<Runnable> futures) {
        collected = new ArrayList<>(futures.size());
        collector = Thread.currentThread();
        try {
            futures.forEach(Runnable::run);
            return collected;
        } finally {
            collector = null;
            collected = null;
        }
    }

    /** Takes a timeout whose future runs; false if it is to expire. */
    boolean isCollected(OneTimeout timeout) {
        if (collector != Thread.currentThread()) {
            return false;
        }
        if (timeout.end()) {
            collected.add(timeout);
        }
        return true;
    }

    /**
     * After {@link #stop()}, waits until nothing runs any more.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public void awaitEnd() throws InterruptedException {
        view.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
    }

    /** {@return the scheduler, for people} */
    @Override
    public String toString() {
        return scheduler + (view.isShutdown() ? ", stopped" : "");
    }
}
