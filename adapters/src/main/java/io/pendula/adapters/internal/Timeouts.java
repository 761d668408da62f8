package io.pendula.adapters.internal;

import io.pendula.SchedulerExecutor;
import io.pendula.TimerHandle;
import io.pendula.TimerScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * One-shot timeouts on a scheduler. They can be stopped all at once; the scheduler stays open. Safe for use by multiple
 * threads.
 *
 * @param <T> the timeouts of an adapter
 *
 * @since 0.1
 */
public final class Timeouts<T extends OneTimeout> {
    /** As in Netty's and JRaft's wheels. */
    private static final long INTERRUPT_MILLIS = 100;

    private final TimerScheduler scheduler;
    private final SchedulerExecutor view;

    /**
     * Creates an object without timeouts.
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
     * Rejects new timeouts, cancels those that have not run, and interrupts those that run. Does not wait, and calls
     * neither a task nor a wrapper of the scheduler's {@code decorate}.
     *
     * @return the cancelled timeouts; empty if stopped before
     */
    @SuppressWarnings("unchecked") // nothing else was armed
    public List<T> stop() {
        List<T> cancelled = new ArrayList<>();
        for (Runnable future : view.shutdownNow()) {
            T timeout = (T) ((TimerHandle) future).task();
            if (timeout != null && timeout.prevent()) { // else another thread has cancelled it meanwhile
                cancelled.add(timeout);
            }
        }
        return cancelled;
    }

    /**
     * After {@link #stop()}, waits until no timeout runs any more, even if the calling thread is interrupted; its
     * interrupt flag is then set at the end. Timeouts that continue are interrupted every 100 ms.
     */
    public void awaitEnd() {
        boolean interrupted = false;
        boolean ended = false;
        while (!ended) {
            try {
                ended = view.awaitTermination(INTERRUPT_MILLIS, TimeUnit.MILLISECONDS);
                if (!ended) {
                    view.shutdownNow(); // a task may have ignored the interrupt before
                }
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** {@return the scheduler, for people} */
    @Override
    public String toString() {
        return scheduler + (view.isShutdown() ? ", stopped" : "");
    }
}
