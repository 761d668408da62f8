package io.pendula;

import io.pendula.internal.engine.EventLog;
import io.pendula.internal.engine.Reporter;
import io.pendula.internal.util.Check;
import java.util.List;

/**
 * Is told of callbacks that threw, took long, or blocked their thread. Each method names the timer, whose
 * {@link TimerHandle#task()} tells whose callback it was, and how late that callback had begun.
 *
 * <p>Methods are called by the scheduler's threads, by those of loops and of the executor, by the monitor, by those of
 * the shared scheduler ({@link #timedOut}), by a thread that advances a {@link ManualClock}, and, if a loop cannot be woken, by the thread that arms; possibly at the same
 * time. They must return quickly and must not block: what else a thread of the scheduler has to run waits meanwhile.
 * What a listener throws goes to the thread's uncaught-exception handler, once, and has no other effect: no listener is
 * told of it, and what the handler throws in turn is ignored.
 *
 * <p>A scheduler whose builder was given no listener hands exceptions to the thread's uncaught-exception handler, and
 * logs slow and interrupted callbacks, callbacks that block their thread and late loops as {@link #logging()} does.
 *
 * @since 0.1
 */
public interface TimerListener {
    /**
     * A listener that logs what it is told, through the {@link System.Logger} named {@code io.pendula}: exceptions as
     * errors, slow, stalled and interrupted callbacks, blocked schedulers, late loops and pauses as warnings. For each
     * scheduler it writes at most ten lines of each kind within ten seconds, then one with the number of those that it has left out
     * and, of what is measured, the longest; all pauses count together, and so may schedulers of one name. A daemon thread
     * writes them, so a log that blocks delays no timer; it ends within twelve seconds of the last line. A close of
     * a scheduler, and an executor's {@code awaitTermination}, waits for it, for five seconds at most: a program that exits
     * without either may lose the last lines.
     *
     * <p>A task is named by its {@code toString}, called by that thread, or by its class if that does not override it.
     *
     * @return a new listener
     */
    static TimerListener logging() {
        return new Listeners.Logging(new EventLog());
    }

    /**
     * A listener that tells this one, then another; if both throw, it throws what this one has thrown, and adds the
     * other's as suppressed. Each of the two does what its own method does, which is the default if it does not override
     * it: if one of them does not override {@link #threw}, the uncaught-exception handler is called as well.
     *
     * @param next is told after this one, even if this one throws
     * @return a listener that tells both
     * @throws NullPointerException if {@code next} is null
     */
    default TimerListener andThen(TimerListener next) {
        return new Listeners.Pair(this, Check.notNull(next, "next"));
    }

    /**
     * A callback threw. The timer goes on: a ticker ticks again, a one-shot may be reset. An executor's periodic task
     * ends, unless the builder says otherwise; of its one-shot tasks only those given to {@code execute} are reported, as
     * the others' futures tell. Unless overridden, the uncaught-exception handler of the present thread is called, as if
     * the exception had ended it.
     *
     * @param timer whose callback threw
     * @param latenessNanos how many nanoseconds after its deadline the run was claimed, see {@link TimerStats#lateness}
     * @param thrown what it threw; any Throwable, also an {@link Error}
     */
    default void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
        Reporter.uncaught(thrown);
    }

    /**
     * A callback has returned, or thrown, and took longer than the builder's {@code slowCallback}.
     *
     * @param timer whose callback it was
     * @param latenessNanos how many nanoseconds after its deadline the run was claimed, see {@link TimerStats#lateness}
     * @param ranNanos how many nanoseconds the callback took
     */
    default void slow(TimerHandle timer, long latenessNanos, long ranNanos) {}

    /**
     * A callback has not returned for longer than the builder's {@code stallAfter}. Called by the monitor, once for
     * each such run. Other workers run what else is due on that worker, if one is free or may be started; in a loop it
     * waits. Not called for callbacks that the builder's executor runs: they block no thread of the scheduler.
     *
     * @param timer whose callback is still running
     * @param latenessNanos how many nanoseconds after its deadline the run was claimed, see {@link TimerStats#lateness}
     * @param blockedNanos for how many nanoseconds, at least, it has been running
     */
    default void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {}

    /**
     * A run of an executor's task has lasted for the builder's {@code runTimeout}, and is interrupted now. Called before the
     * interrupt, so {@link TimerHandle#runner()} still shows where the thread is; the run may end by itself meanwhile. Called by
     * a thread of the {@linkplain TimerScheduler#shared() shared} scheduler.
     *
     * @param timer whose callback is interrupted
     * @param latenessNanos how many nanoseconds after its deadline the run was claimed, see {@link TimerStats#lateness}
     * @param ranNanos the limit, in nanoseconds
     */
    default void timedOut(TimerHandle timer, long latenessNanos, long ranNanos) {}

    /**
     * Every thread of a scheduler, spare ones included, has been in one callback for longer than the builder's
     * {@code stallAfter}: the scheduler's timers wait until one of these returns. Called by the monitor, after
     * {@link #stalled} was called for each of the callbacks; once until one of the threads is free.
     *
     * @param schedulerName as given to the scheduler's builder
     * @param threads how many there are
     * @param blockedNanos for how many nanoseconds, at least, each of them has been in its callback
     */
    default void allBlocked(String schedulerName, int threads, long blockedNanos) {}

    /**
     * A {@link TimerLoop} is late: its thread has not polled since a timer fell due, more than {@code stallAfter} ago.
     * Called by the monitor, once until it polls. If the thread is held up by a callback of the loop, {@link #stalled} is
     * called instead.
     *
     * @param loop whose thread is busy elsewhere
     * @param timer that has waited longest
     * @param latenessNanos by how many nanoseconds it is late already
     */
    default void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {}

    /**
     * Armed timers were stopped by {@link TimerLoop#close()}. Called by the closing thread, once for the loop, and not if
     * nothing was armed; {@link TimerLoop#detach()} returns the timers instead. Also called, by any thread, when the
     * scheduler finds out that the loop's thread has ended without closing it. If that thread is just closing the loop,
     * another one's {@code close()} of the loop or of the scheduler may return before this is called.
     *
     * <p>Unless overridden, nothing happens: a server that closes usually has timeouts armed, which is no failure.
     * {@link TimerStats#unfired} counts them in any case.
     *
     * @param loop that was closed
     * @param unfired the timers that will not run, in no particular order; unmodifiable, never empty
     */
    default void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {}

    /**
     * No thread of the scheduler could run for a second or more, as the collector paused all threads, the process was
     * suspended, the machine was asleep, or a clock of the user's has jumped. All that fell due meanwhile runs late, of
     * each worker in the order of its deadlines. Called by the thread that wakes up first, once for each pause; no
     * callback and no loop is reported as stalled for it.
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
        Reporter.uncaught(thrown);
    }
}
