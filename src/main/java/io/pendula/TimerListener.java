package io.pendula;

import io.pendula.internal.engine.EventLog;
import io.pendula.internal.engine.Reporter;
import io.pendula.internal.util.Check;
import java.util.List;

/**
 * Is notified of callbacks that threw, took long, or blocked their thread, and of late loops and pauses. Most methods
 * receive the timer, and its lateness when the run was claimed; {@link TimerHandle#task()} returns the task.
 *
 * <p>Several threads may call the methods at the same time: those of the scheduler, its monitor, its loops and its
 * executor, and for {@link #timedOut} those of the shared scheduler. A thread that advances a {@link ManualClock} calls
 * them too, and so does a thread that arms a timer if it cannot wake a loop. The methods must return quickly and must
 * not block, because other timers of the thread wait meanwhile. If a listener throws, the exception goes to the
 * thread's uncaught-exception handler, once. Listeners are not notified of it, and an exception of that handler is
 * ignored.
 *
 * <p>A scheduler without a listener passes exceptions to the thread's uncaught-exception handler. It logs slow and
 * interrupted callbacks, callbacks that block their thread, and late loops, as {@link #logging()} does.
 *
 * @since 0.1
 */
public interface TimerListener {
    /**
     * Returns a listener that logs events through the {@link System.Logger} named {@code io.pendula}. Exceptions are
     * errors; slow, stalled and interrupted callbacks, blocked schedulers, late loops and pauses are warnings. For each
     * scheduler it writes at most ten lines of each kind within ten seconds. Then it writes one line with the number of
     * omitted lines and, for measured times, the longest. All pauses are counted together; schedulers with the same
     * name may be, too.
     *
     * <p>A daemon thread writes the lines, so a log that blocks delays no timer. This thread ends within twelve seconds
     * of the last line. Closing a scheduler, and an executor's {@code awaitTermination}, wait for it at most five
     * seconds. A program that exits without either may lose the last lines.
     *
     * <p>A line names the task by its {@code toString}, which the daemon thread calls, or by its class if the class
     * does not override {@code toString}.
     *
     * @return a new listener
     */
    static TimerListener logging() {
        return new Listeners.Logging(new EventLog());
    }

    /**
     * Returns a listener that calls this listener, then {@code next}. If both throw, it throws the exception of this
     * listener, with that of {@code next} as suppressed. The default methods apply to each: if one of the two does not
     * override {@link #threw}, the uncaught-exception handler is called as well.
     *
     * @param next called after this one, even if this one throws
     * @return a listener that calls both
     * @throws NullPointerException if {@code next} is null
     */
    default TimerListener andThen(TimerListener next) {
        return new Listeners.Pair(this, Check.notNull(next, "next"));
    }

    /**
     * Called when a callback has thrown. The timer continues: a ticker ticks again, and a {@link Timer} can be reset.
     * An executor's periodic task ends, unless the builder says otherwise. Its one-shot tasks are reported only if they
     * were given to {@code execute}, because the others have futures that report the exception. The default
     * implementation calls the uncaught-exception handler of the current thread, as if the exception had ended it.
     *
     * @param timer the timer whose callback threw
     * @param latenessNanos how many nanoseconds after its deadline the run was claimed, see {@link TimerStats#lateness}
     * @param thrown the exception; any Throwable, also an {@link Error}
     */
    default void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
        Reporter.uncaught(thrown);
    }

    /**
     * Called when a callback has returned or thrown, and took longer than the builder's {@code slowCallback}.
     *
     * @param timer the timer whose callback it was
     * @param latenessNanos how many nanoseconds after its deadline the run was claimed, see {@link TimerStats#lateness}
     * @param ranNanos how many nanoseconds the callback took
     */
    default void slow(TimerHandle timer, long latenessNanos, long ranNanos) {}

    /**
     * Called by the monitor when a callback has been running for longer than the builder's {@code stallAfter}, once for
     * each such run. If another worker is free or can be started, it runs the other timers that are due on that worker;
     * timers of a loop wait. Not called for callbacks that the builder's executor runs, because they block no thread of
     * the scheduler.
     *
     * @param timer the timer whose callback is still running
     * @param latenessNanos how many nanoseconds after its deadline the run was claimed, see {@link TimerStats#lateness}
     * @param blockedNanos for how many nanoseconds, at least, it has been running
     */
    default void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {}

    /**
     * Called when a run of an executor's task has lasted for the builder's {@code runTimeout}, just before the run is
     * interrupted. So {@link TimerHandle#runner()} still shows where the thread is, unless the run ends by itself
     * meanwhile. Called by a thread of the {@linkplain TimerScheduler#shared() shared} scheduler; with a
     * {@link ManualClock}, by the thread that advances it.
     *
     * @param timer the timer whose callback is interrupted
     * @param latenessNanos how many nanoseconds after its deadline the run was claimed, see {@link TimerStats#lateness}
     * @param ranNanos the limit, in nanoseconds
     */
    default void timedOut(TimerHandle timer, long latenessNanos, long ranNanos) {}

    /**
     * Called by the monitor when every thread of a scheduler, including spare threads, has been in one callback for
     * longer than the builder's {@code stallAfter}. The scheduler's timers wait until one of these callbacks returns.
     * Before, {@link #stalled} was called for each of the callbacks. Not called again until one of the threads has been
     * free.
     *
     * @param schedulerName as given to the scheduler's builder
     * @param threads the number of threads
     * @param blockedNanos for how many nanoseconds, at least, each of them has been in its callback
     */
    default void allBlocked(String schedulerName, int threads, long blockedNanos) {}

    /**
     * Called by the monitor when a {@link TimerLoop} is late: its thread has not polled since a timer became due, more
     * than {@code stallAfter} ago. Not called again until the thread polls. If a callback of the loop blocks the
     * thread, {@link #stalled} is called instead.
     *
     * @param loop the loop whose thread is busy elsewhere
     * @param timer the timer that has waited longest
     * @param latenessNanos the number of nanoseconds by which it is late already
     */
    default void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {}

    /**
     * Called when {@link TimerLoop#close()} has stopped armed timers, once for the loop, by the closing thread.
     * ({@link TimerLoop#detach()} returns the timers instead.) Also called, by any thread, when the scheduler detects
     * that the loop's thread has ended without closing it. If the loop's thread is closing the loop at that moment,
     * another thread's {@code close()} of the loop or of the scheduler may return before this is called.
     *
     * <p>The default implementation does nothing: a server that closes usually has timeouts armed, which is not a failure.
     * {@link TimerStats#unfired} counts them in any case.
     *
     * @param loop the closed loop
     * @param unfired the timers that will not run, in no particular order; unmodifiable, never empty
     */
    default void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {}

    /**
     * Called when no thread of the scheduler could run for a second or more. Possible causes: the garbage collector
     * paused all threads, the process was suspended, the machine was asleep, or the program's own {@link NanoClock}
     * jumped. All timers that became due meanwhile run late, on each worker in the order of their deadlines. Called by
     * the thread that wakes up first, once for each pause. No callback or loop is reported as stalled because of the
     * pause.
     *
     * @param pausedNanos the approximate length of the pause in nanoseconds
     */
    default void paused(long pausedNanos) {}

    /**
     * Called when the wakeup of a {@link TimerLoop} has thrown. The timer for which it was called stays armed. The
     * default implementation calls the uncaught-exception handler of the current thread, as if the exception had ended
     * it.
     *
     * @param loop the loop whose wakeup threw
     * @param thrown the exception
     */
    default void wakeupThrew(TimerLoop loop, Throwable thrown) {
        Reporter.uncaught(thrown);
    }
}
