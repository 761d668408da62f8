package io.pendula;

import io.pendula.internal.scheduler.SharedScheduler;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;

/**
 * A timer that fires again and again at a fixed rate. (Some libraries call a source of time a ticker; here that is a
 * {@link NanoClock}.)
 *
 * <p>The first tick comes one period after the ticker was made, unless an initial delay or a random phase is chosen,
 * and each later one keeps to that grid: lateness of one tick does not shift the next, except with
 * {@link MissedTicks#DELAY}. What happens to ticks that could not run in time is told by {@link MissedTicks}. A ticker never
 * overlaps itself: it is out of the heap while its callback runs, and the next tick is armed when the callback has
 * returned. A callback that throws does not end its ticker; the exception goes to the {@link TimerListener}. Run k
 * happens-before run k + 1, whatever threads they run on.
 *
 * <p>Threads that wait for ticks, in the place of a callback, have an {@link Alarm}.
 *
 * <p>All methods may be called by any thread at any time, the own callback included.
 *
 * @since 0.1
 */
public sealed interface Ticker extends TimerHandle, AutoCloseable permits PeriodicTimer {
    /**
     * Runs {@code task} each {@code period} on the {@linkplain TimerScheduler#shared() shared scheduler}; missed ticks
     * are skipped. That scheduler has the other forms of {@code every}.
     *
     * @param period the time between two ticks, more than zero
     * @param task what to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as {@link TimerScheduler#after(Duration, Runnable)} does
     */
    static Ticker every(Duration period, Runnable task) {
        return PeriodicTimer.arm(SharedScheduler.engine(), period, task);
    }

    /**
     * No more ticks, until {@code reset}. A run in progress ends normally.
     *
     * @return true if ticks were to come
     */
    boolean stop();

    /**
     * Ticks each {@code period} from now on, the first one after one period; also after {@code stop}. Of several resets
     * at the same time one comes last: its first tick and its period count. A tick that runs while a reset is under way
     * may be followed at the new period already. A reset that throws changes nothing.
     *
     * @param period the time between two ticks, more than zero
     * @return true if ticks were to come before, false if the ticker was stopped
     * @throws NullPointerException if {@code period} is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws IllegalStateException if the ticker was closed
     * @throws RejectedExecutionException if the scheduler or loop is closed, or if the ticker was stopped and
     *     {@code maxPending} timers are armed
     */
    boolean reset(Duration period);

    /**
     * Runs the callback once as soon as possible, beside the grid: the ticks that are to come keep their times. Never
     * inside this call, and never beside another run: while the callback runs, this run follows when that has returned. If
     * a tick is due and has not begun, it is the run, so several calls may share one. What this thread did before
     * happens-before the run. A stop, or a reset, that comes before the run prevents it.
     *
     * @return true if a run follows; false if the ticker was stopped, also by {@code cancel} or a close
     * @throws IllegalStateException if the scheduler's 36 years are over
     * @throws RejectedExecutionException if the scheduler or loop is being closed
     */
    boolean tickNow();

    /**
     * The number of ticks that were skipped because the ticker was late, as its {@link MissedTicks} says.
     *
     * @return a count that never falls
     */
    long missed();

    /**
     * How many ticks the present run stands for, for its own callback: its own, and those that were left out after it, by
     * which {@link #missed()} has grown with this run. With {@link MissedTicks#BURST} always one.
     *
     * @return at least 1; 0 outside of a run: if the calling thread is not inside the callback
     */
    long ticksInRun();

    /** As {@link #cancel()}. */
    @Override
    default void close() {
        cancel();
    }
}
