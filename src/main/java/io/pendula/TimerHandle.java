package io.pendula;

import io.pendula.internal.util.Check;
import java.time.Duration;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * A timer of any kind: a {@link Timer}, a {@link Ticker}, an {@link Alarm}, what {@link Timers#schedule} has made, or the
 * future of an executor's task, which is a {@link java.util.concurrent.RunnableScheduledFuture}, too. A
 * {@link TimerListener} and a list of pending timers name it.
 *
 * <p><b>How to end one.</b> Each word means the same wherever it stands:
 * <ul>
 * <li>{@code stop} prevents what is to come, and keeps the task: a {@code reset} arms the timer again;
 * <li>{@code cancel} does so for good, and drops the task;
 * <li>{@code close}, of a ticker or an alarm, is {@code cancel}, for {@code try} statements;
 * <li>{@code cancelAndAwait} is {@code cancel}, then waits until no run is in progress.
 * </ul>
 * The first three do not wait: a run in progress goes on, and ends normally. Only {@code cancelAndAwait} tells that what
 * the callback uses may be freed.
 *
 * <p>All methods may be called by any thread at any time; their answers are snapshots if other threads use the timer.
 *
 * @since 0.1
 */
public sealed interface TimerHandle permits Timer, Ticker, Alarm, WallTimer, SchedulerExecutor.Task {
    /**
     * The handle of an executor's task, as for {@link #cancelAndAwait}.
     *
     * @param future what a method of a {@link SchedulerExecutor} has returned, {@code invokeAll} excepted
     * @return {@code future} itself
     * @throws NullPointerException if {@code future} is null
     * @throws IllegalArgumentException if it is no future of such an executor
     */
    static TimerHandle of(Future<?> future) {
        if (Check.notNull(future, "future") instanceof TimerHandle handle) {
            return handle;
        }
        throw new IllegalArgumentException("a future of a SchedulerExecutor has a handle, but not a "
                + future.getClass().getName());
    }

    /**
     * What the timer runs, as the program gave it: a {@link Runnable}, or a {@link java.util.concurrent.Callable} that
     * was submitted to an executor. Never what the builder's {@code decorate} has made of it. The executor's
     * {@code submit(Runnable, T)}, {@code invokeAll} and {@code invokeAny} submit objects of the JDK, which call the
     * program's.
     *
     * @return the task; null if it is an alarm, was itself cancelled or closed, or if its executor's task has ended
     */
    @Nullable Object task();

    /**
     * The time until the timer is due.
     *
     * @return zero if it is due already or not armed at all; 292 years if it will never fire
     */
    Duration remaining();

    /**
     * Whether a firing is to come that could be prevented.
     *
     * @return true if the timer is armed
     */
    boolean isPending();

    /**
     * Ends the timer for good and drops its task at once. A run in progress ends normally.
     *
     * @return true if firings were to come; of an executor's task, what {@code cancel(false)} says
     */
    boolean cancel();

    /**
     * Cancels the timer, then waits until no run of its callback is in progress. What that run did happens-before this
     * returns true; none begins afterwards. Called by that very callback it does not wait for itself. Two callbacks that
     * wait for each other both wait until their limits. A task is not interrupted: for that, call {@code cancel(true)} of
     * its future before.
     *
     * @param limit how long to wait at most; zero: only look
     * @return true if no run is in progress any more; false if the limit has passed, or if the own callback called
     * @throws NullPointerException if {@code limit} is null
     * @throws IllegalArgumentException if {@code limit} is negative
     * @throws InterruptedException if the thread is interrupted while it waits; the timer is cancelled all the same
     */
    boolean cancelAndAwait(Duration limit) throws InterruptedException;

    /**
     * The thread that runs the callback at this moment, as for a {@link TimerListener} that wants to know where a
     * callback is stuck.
     *
     * @return the thread; null if the callback is not running, or waits in the builder's executor
     */
    @Nullable Thread runner();

    /**
     * How late the present run is, for its own callback, as to skip work that is no longer of use. The scheduler has
     * measured it when it claimed the run, see {@link TimerStats#lateness}; this does not read the clock. What has passed
     * since then is not part of it: the time in the builder's executor, and that of callbacks before this one in a
     * {@link TimerLoop}'s call of {@code runDue}, or, if they are short, of a worker.
     *
     * @return nanoseconds since the deadline, at least 0; -1 outside of a run: if the calling thread is not inside the
     *     callback that the scheduler runs
     */
    long latenessNanos();

    /** {@return the name of the scheduler or pool that the timer belongs to, as given to its builder} */
    String schedulerName();

    /**
     * The class of the task, or of what a {@link io.pendula.spi.TaskWrapper} stands for, the remaining time, and the period if there is
     * one, for people. The task's own {@code toString} is not called: it might fail, or name this timer in turn.
     *
     * @return a text without a fixed form
     */
    @Override
    String toString();
}
