package io.pendula;

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
