package io.pendula;

import io.pendula.internal.scheduler.SharedScheduler;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;

/**
 * A timer that fires repeatedly at a fixed rate. (Some libraries call a time source a ticker; here that is a
 * {@link NanoClock}.)
 *
 * <p>The first tick comes one period after the ticker was created, unless an initial delay or a random phase is chosen.
 * It starts a grid: later ticks follow at multiples of the period. A late tick does not shift the next, except with
 * {@link MissedTicks#DELAY}. {@link MissedTicks} decides what happens to ticks that could not run on time. A ticker
 * never overlaps itself: the next tick is armed when the callback has returned. If a callback throws, the ticker
 * continues, and the exception goes to the {@link TimerListener}. Run k happens-before run k + 1, whatever threads they
 * run on.
 *
 * <p>To make a thread wait for ticks instead of running a callback, use an {@link Alarm}.
 *
 * <p>All methods may be called by any thread at any time, including by the ticker's own callback.
 *
 * @since 0.1
 */
public sealed interface Ticker extends TimerHandle, AutoCloseable permits PeriodicTimer {
    /**
     * Runs {@code task} each {@code period} on the {@linkplain TimerScheduler#shared() shared scheduler}; missed ticks are
     * skipped. For the other forms of {@code every}, call that scheduler.
     *
     * @param period the time between two ticks, more than zero
     * @param task the task to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as {@link TimerScheduler#after(Duration, Runnable)} does
     */
    static Ticker every(Duration period, Runnable task) {
        return PeriodicTimer.arm(SharedScheduler.engine(), period, task);
    }

    /**
     * Stops ticking until {@code reset} is called. A run in progress ends normally.
     *
     * @return true if the ticker had ticks to come
     */
    boolean stop();

    /**
     * Ticks each {@code period} from now on, first after one period. Also restarts a ticker that was stopped. If
     * several threads reset the ticker at the same time, the last reset determines the first tick and the period. If a
     * tick runs during a reset, the next tick may already use the new period. If {@code reset} throws one of the
     * exceptions below, nothing has changed.
     *
     * @param period the time between two ticks, more than zero
     * @return true if the ticker had ticks to come, false if it was stopped
     * @throws NullPointerException if {@code period} is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws IllegalStateException if the ticker was closed, or its scheduler's clock has counted 36 years
     * @throws RejectedExecutionException if the scheduler, loop or group is closed, or if the ticker was stopped and
     *     {@code maxPending} timers are armed
     */
    boolean reset(Duration period);

    /**
     * Runs the callback once as soon as possible, in addition to the ticks of the grid, which keep their times. The run
     * is never inside this call, and never overlaps another run: if the callback is running, this run follows when it
     * has returned. If a tick is due and has not begun, that tick is the run, so several calls may share one. Actions
     * in this thread before this call happen-before the run. A stop or a reset before the run prevents it.
     *
     * @return true if a run follows; false if the ticker was stopped, cancelled or closed
     * @throws IllegalStateException if the scheduler's clock has counted 36 years
     * @throws RejectedExecutionException if the scheduler or loop is being closed
     */
    boolean tickNow();

    /**
     * Returns the number of ticks that were skipped because the ticker was late, as its {@link MissedTicks} policy
     * says.
     *
     * @return a count that never decreases
     */
    long missed();

    /**
     * Returns, for the ticker's own callback, the number of ticks that the current run stands for: its own tick, and
     * the ticks skipped after it, which {@link #missed()} already includes. With {@link MissedTicks#BURST} the result
     * is always 1.
     *
     * @return at least 1; 0 if the calling thread is not inside the callback
     */
    long ticksInRun();

    /** Same as {@link #cancel()}. */
    @Override
    default void close() {
        cancel();
    }
}
