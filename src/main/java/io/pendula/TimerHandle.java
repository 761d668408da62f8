package io.pendula;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link TimerListener} and a list of pending timers name: a {@link Timer}, a {@link Ticker}, an {@link Alarm}, or the
 * future of an executor's task, which is a {@link java.util.concurrent.RunnableScheduledFuture}, too. Only this library implements it.
 *
 * <p>All methods may be called by any thread at any time; their answers are snapshots if other threads use the timer.
 *
 * @since 0.1
 */
public interface TimerHandle {
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
     * The thread that runs the callback at this moment, as for a {@link TimerListener} that wants to know where a
     * callback is stuck.
     *
     * @return the thread; null if the callback is not running, or waits in the builder's executor
     */
    @Nullable Thread runner();

    /** {@return the name of the scheduler or pool that the timer belongs to, as given to its builder} */
    String schedulerName();

    /**
     * The class of the task, or of what a {@link TaskWrapper} stands for, the remaining time, and the period if there is
     * one, for people. The task's own {@code toString} is not called: it might fail, or name this timer in turn.
     *
     * @return a text without a fixed form
     */
    @Override
    String toString();
}
