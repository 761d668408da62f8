package io.pendula;

import io.pendula.internal.util.Check;
import java.time.Duration;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * A timer of any kind: a {@link Timer}, a {@link Ticker}, an {@link Alarm}, the result of {@link Timers#schedule}, or
 * the future of an executor's task. Such a future is also a {@link java.util.concurrent.RunnableScheduledFuture}.
 * Handles are passed to a {@link TimerListener}, and are in lists of pending timers.
 *
 * <p><b>Ending a timer.</b> Each method has the same meaning in all types:
 * <ul>
 * <li>{@code stop} prevents the next firing and keeps the task, so that {@code reset} can arm the timer again.
 * <li>{@code cancel} ends the timer permanently and drops the task.
 * <li>{@code close} of a ticker or an alarm is {@code cancel}, for {@code try} statements.
 * <li>{@code cancelAndAwait} cancels the timer, then waits until no run is in progress.
 * </ul> The first three do not wait: a run in progress ends normally. Do not release resources that the
 * callback uses before {@code cancelAndAwait} has returned true.
 *
 * <p>All methods may be called by any thread at any time. Results are snapshots if other threads use the timer.
 *
 * @since 0.1
 */
public sealed interface TimerHandle permits Timer, Ticker, Alarm, WallTimer, SchedulerExecutor.Task {
    /**
     * Returns the handle of an executor's task, for example to call {@link #cancelAndAwait}.
     *
     * @param future a future returned by a method of a {@link SchedulerExecutor} other than {@code invokeAll}
     * @return {@code future} itself
     * @throws NullPointerException if {@code future} is null
     * @throws IllegalArgumentException if {@code future} is not a future of such an executor
     */
    static TimerHandle of(Future<?> future) {
        if (Check.notNull(future, "future") instanceof TimerHandle handle) {
            return handle;
        }
        throw new IllegalArgumentException("a future of a SchedulerExecutor has a handle, but not a "
                + future.getClass().getName());
    }

    /**
     * Returns the task as the program passed it: a {@link Runnable}, or a {@link java.util.concurrent.Callable} that
     * was submitted to an executor. It is never the result of the builder's {@code decorate}. For the executor's
     * {@code submit(Runnable, T)}, {@code invokeAll} and {@code invokeAny} the task is an object of the JDK, which
     * calls the program's task.
     *
     * @return the task; null if this is an alarm, if {@code cancel} or {@code close} of this timer was called, or if
     *     this is an executor's task that has ended
     */
    @Nullable Object task();

    /**
     * Returns the time until the timer is due.
     *
     * @return the remaining time; zero if the timer is due or not armed; 292 years if it will never fire
     */
    Duration remaining();

    /**
     * Returns true if the timer has a pending firing that can be prevented.
     *
     * @return true if the timer is armed
     */
    boolean isPending();

    /**
     * Ends the timer permanently and drops its task at once. A run in progress ends normally.
     *
     * @return true if this call prevented further firings; for an executor's task, the result of {@code cancel(false)}
     */
    boolean cancel();

    /**
     * Cancels the timer, then waits until no run of its callback is in progress. The last run happens-before this
     * method returns true, and no run begins afterwards. If the callback itself calls this method, it does not wait. If
     * two callbacks wait for each other, both wait until their limits. The task is not interrupted: to interrupt an
     * executor's task, call {@code cancel(true)} on its future first.
     *
     * @param limit the maximum time to wait; zero: do not wait
     * @return true if no run is in progress any more; false if the limit has passed, or if called by the timer's own
     *     callback
     * @throws NullPointerException if {@code limit} is null
     * @throws IllegalArgumentException if {@code limit} is negative
     * @throws InterruptedException if the thread is interrupted while it waits; the timer is cancelled nevertheless
     */
    boolean cancelAndAwait(Duration limit) throws InterruptedException;

    /**
     * Returns the thread that runs the callback at this moment, for example so that a {@link TimerListener} can show
     * where a callback is stuck.
     *
     * @return the thread; null if the callback is not running, or waits in the builder's executor
     */
    @Nullable Thread runner();

    /**
     * Returns how late the current run is, so that the callback can skip work that is no longer useful. The scheduler
     * measured the lateness when it claimed the run, see {@link TimerStats#lateness}; this method does not read the
     * clock. Later delays are not included: time in the builder's executor, and earlier callbacks of the same
     * {@link TimerLoop#runDue} call or, if they are short, of the same worker.
     *
     * @return nanoseconds since the deadline, at least 0; -1 if the calling thread is not inside the timer's callback
     */
    long latenessNanos();

    /** {@return the name of the scheduler or pool that the timer belongs to, as given to its builder} */
    String schedulerName();

    /**
     * Returns a text for humans: the class of the task (or of the task that a {@link io.pendula.spi.TaskWrapper}
     * wraps), the remaining time, and the period if there is one. The task's own {@code toString} is not called,
     * because it might fail or call this method.
     *
     * @return a text without a fixed form
     */
    @Override
    String toString();
}
