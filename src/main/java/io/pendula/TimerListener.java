package io.pendula;

import java.util.List;

/**
 * Hears of callbacks that threw or took long, and of drivers that were stuck in one. Each method names the timer (a
 * {@link Timer}, a {@link Ticker}, or the {@link java.util.concurrent.RunnableScheduledFuture} of an executor's task)
 * and how late its callback had begun.
 *
 * <p>Methods are called by drivers, by the executor's threads and by the monitor, possibly at the same time; they
 * should be quick. What a listener throws itself goes to the thread's uncaught-exception handler and harms nobody.
 */
public interface TimerListener {
    /**
     * A callback threw. The timer lives on: a ticker ticks again, a one-shot may be reset. An executor's periodic task
     * ends; of its one-shot tasks only those given to {@code execute} are reported, as the others' futures tell. Unless
     * overridden, the uncaught-exception handler of the present thread is called, as if the exception had ended it.
     *
     * @param timer whose callback threw
     * @param latenessNanos by how many nanoseconds the run began after its deadline
     * @param thrown what it threw; any Throwable, also an {@link Error}
     */
    default void threw(Object timer, long latenessNanos, Throwable thrown) {
        Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
    }

    /**
     * A callback has returned, or thrown, and took longer than the builder's {@code slowCallback}.
     *
     * @param timer whose callback it was
     * @param latenessNanos by how many nanoseconds the run began after its deadline
     * @param ranNanos how many nanoseconds the callback took
     */
    default void slow(Object timer, long latenessNanos, long ranNanos) {}

    /**
     * A driver or loop is stuck in a callback, and its other timers are being handed to another driver. Called by the monitor,
     * once for each run that gets stuck.
     *
     * @param timer whose callback is still running
     * @param latenessNanos by how many nanoseconds the run began after its deadline
     * @param blockedNanos for how many nanoseconds, at least, it has been running
     */
    default void stalled(Object timer, long latenessNanos, long blockedNanos) {}

    /**
     * A {@link TimerLoop} is late: its thread has not come by since a timer fell due. Called by the monitor, once until
     * it comes by. If the thread is held up by a callback of the loop, {@link #stalled} is called instead.
     *
     * @param loop whose thread is busy elsewhere
     * @param timer that has waited longest
     * @param latenessNanos by how many nanoseconds it is late already
     */
    default void loopStalled(TimerLoop loop, Object timer, long latenessNanos) {}

    /**
     * Armed timers were stopped by {@link TimerLoop#close()}, because the loop was confined to its thread, or because
     * there was no other loop and no driver to run them. Called by the closing thread, once for the loop, and not if
     * nothing was armed; {@link TimerLoop#detach()} returns the timers instead. Also called, by any thread, when the
     * scheduler finds out that the loop's thread has ended without closing it.
     *
     * <p>Unless overridden, nothing happens: a server that closes usually has timeouts armed, which is no failure.
     * {@link TimerStats#unfired} counts them in any case.
     *
     * @param loop that was closed
     * @param unfired the timers that will not run: each {@link Timer}, {@link Ticker} and task of an executor, in no
     *     particular order; unmodifiable, never empty
     */
    default void loopClosed(TimerLoop loop, List<?> unfired) {}

    /**
     * No thread of the scheduler could run for a second or more, as the process was suspended, the machine was asleep,
     * or a clock of the user's has jumped. All that fell due meanwhile runs late, in the order of its deadlines. Called
     * by the monitor, once for each pause; no callback and no loop is reported as stalled for it.
     *
     * @param pausedNanos for how many nanoseconds, about
     */
    default void paused(long pausedNanos) {}

    /**
     * The wakeup of a {@link TimerLoop} threw. The timer for which it was called stays armed. Unless overridden, the
     * uncaught-exception handler of the present thread is called, as if the exception had ended it.
     *
     * @param loop whose wakeup it was
     * @param thrown what it threw
     */
    default void wakeupThrew(TimerLoop loop, Throwable thrown) {
        Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
    }
}
