package io.pendula;

import io.pendula.internal.loops.LoopWorker;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.util.Check;
import java.io.IOException;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;

/**
 * Runs timers in a loop of one of the application's threads, typically a thread that waits for I/O. Callbacks run on
 * that thread; no other thread is involved.
 *
 * <pre>{@code
 * try (TimerLoop loop = timers.attach(selector::wakeup)) {
 *     while (running) {
 *         loop.select(selector);        // waits for I/O or the next deadline, whichever comes first
 *         handleReadyKeys();
 *         loop.runDue();
 *     }
 * }
 * }</pre>
 *
 * <p>A loop that does not wait in a selector asks how long it may wait, then runs the timers that are due:
 *
 * <pre>{@code
 * Message m = queue.poll(loop.nanosUntilNext(), TimeUnit.NANOSECONDS);
 * loop.runDue();
 * }</pre>
 *
 * <p><b>Which timers.</b> A loop has the timers that its thread arms by any method of the scheduler (except alarms),
 * and those that any thread arms by the methods of this class. If the scheduler has no workers, a timer that is armed
 * by a thread without a loop goes to one of the loops. Any thread may stop and reset them.
 *
 * <p><b>The wakeup</b> that was passed to {@link TimerScheduler#attach} must end the thread's current wait or, if the
 * thread is not waiting, its next one. {@link Selector#wakeup} and
 * {@link java.util.concurrent.locks.LockSupport#unpark} do so. Arming a timer that is due before the end of the wait
 * calls the wakeup, at most once per wait. It may also be called when stopped timers must be removed, when the
 * scheduler closes, and just after the loop was closed. The wakeup should neither block nor throw. If it throws,
 * {@link TimerListener#wakeupThrew} is called, and the timer stays armed. The next earlier timer calls the wakeup
 * again.
 *
 * <p><b>Confined.</b> Callbacks run on the loop's thread only. While the thread is busy elsewhere and does not call
 * {@code runDue}, they wait. A long delay is reported to {@link TimerListener#loopStalled}, unless the scheduler has no
 * workers or a {@link ManualClock}: then it has no thread to detect the delay. If a timer must not wait for one thread,
 * arm it on the scheduler's workers.
 *
 * <p><b>Threads.</b> Any thread may arm timers through the loop. Only the thread that attached the loop may poll and
 * close it. A callback must not call {@code runDue}, {@code nanosUntilNext} or {@code select}; it may close the loop.
 *
 * @since 0.1
 */
public final class TimerLoop extends Armer implements Timers, AutoCloseable {
    private static final long NANOS_PER_MILLI = 1_000_000;

    final LoopWorker worker;

    /** Called only by the attach of {@code worker}. */
    TimerLoop(LoopWorker worker) {
        super(worker.engine.timeline);
        this.worker = worker;
    }

    /** The loop's only handle. */
    static TimerLoop of(LoopWorker worker) {
        return (TimerLoop) worker.handle;
    }

    // ---- the loop's thread ----

    /**
     * Returns how long the thread may wait, in nanoseconds. From this call until the next call of this method,
     * {@code runDue} or {@code select}, the thread is assumed to wait: if another thread arms an earlier timer, it
     * calls the wakeup.
     *
     * <p>This method may use up the permit of an {@code unpark}. A loop that parks must therefore check its own
     * conditions, such as a stop flag, between this call and the park.
     *
     * @return the time until the next deadline, or less if timers were stopped or postponed recently. At most 15
     *     seconds while any timer is armed, so that stopped timers are released soon; with a {@link ManualClock} there
     *     is no such limit. Zero if a timer is due or the next call must remove stopped timers, and once after the
     *     scheduler was closed. {@code Long.MAX_VALUE} if no timer is armed and all stopped timers have been removed
     * @throws IllegalStateException if called by another thread, by a callback, or after {@code close}
     */
    public long nanosUntilNext() {
        check("nanosUntilNext");
        return worker.nanosUntilNext();
    }

    /**
     * Runs the timers that are due at this moment, in the order of their deadlines. A timer that a callback arms waits
     * for the next call, even if it is due at once. Exception: a timer that is armed by {@code at} for an instant
     * before this call may run in the same call. If a callback throws, the exception goes to the {@link TimerListener}.
     * If a callback leaves the interrupt flag set, the next callback does not see it, but the flag is set when this
     * method returns.
     *
     * @return the number of firings: callbacks that were run, and alarms that rang
     * @throws IllegalStateException if called by another thread, by a callback, or after {@code close}
     */
    public int runDue() {
        return runDue(Integer.MAX_VALUE);
    }

    /**
     * Like {@link #runDue()}, but runs at most {@code limit} timers, so that the thread can return to its I/O.
     *
     * @param limit the maximum number of firings, at least 1
     * @return the number of firings
     * @throws IllegalArgumentException if {@code limit} is less than 1
     * @throws IllegalStateException if called by another thread, by a callback, or after {@code close}
     */
    public int runDue(int limit) {
        Check.atLeast(limit, 1, "limit");
        check("runDue");
        return worker.runDue(limit);
    }

    /**
     * Selects keys: waits until a channel is ready, the next timer is due, or the selector is woken up. Does not wait
     * if a timer is due already, and does not run timers. Selectors wait for whole milliseconds, and the time is
     * rounded up, so a timer that ends the wait may be up to a millisecond late.
     *
     * @param selector the selector of this thread's loop; its {@code wakeup} should be the one given to {@code attach}
     * @return the number of keys, as returned by {@link Selector#select()}
     * @throws NullPointerException if {@code selector} is null
     * @throws IOException as {@link Selector#select()} does
     * @throws java.nio.channels.ClosedSelectorException if the selector is closed
     * @throws IllegalStateException if called by another thread, by a callback, or after {@code close}
     */
    public int select(Selector selector) throws IOException {
        Check.notNull(selector, "selector");
        check("select");
        try {
            long nanos = worker.nanosUntilNext();
            if (nanos == 0) {
                return selector.selectNow();
            }
            return nanos == Long.MAX_VALUE ? selector.select()
                    : selector.select((nanos + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI);
        } finally {
            worker.markAwake();
        }
    }

    /**
     * Ends the loop. Its armed timers are stopped, counted as {@linkplain TimerStats#unfired unfired}, and returned; none of
     * the loop's timers can be reset any more. Futures with timeouts on this loop complete exceptionally on the calling
     * thread, see {@link #orTimeout}.
     *
     * <p>The thread may attach another loop afterwards. If a callback of this loop calls this method, the thread may do
     * so only after that callback has returned. If the thread has ended, any other thread may end the loop. If the
     * scheduler detects that the thread has ended, it closes the loop, as {@link #close()} does.
     *
     * @return the stopped timers, in no particular order: timers, tickers, alarms, and executors' tasks, which are
     *     cancelled. None of them will run. Empty if the loop or the scheduler was closed before
     * @throws IllegalStateException if called by another thread while the loop's own is alive
     */
    public List<TimerHandle> detach() {
        List<TimerHandle> stopped = new ArrayList<>();
        checkThread("detach", true);
        worker.loops.detach(worker, unfired -> {
            for (TimerNode t : unfired) {
                if (t instanceof TimerHandle handle) {
                    stopped.add(handle);
                }
            }
        });
        return stopped;
    }

    /**
     * Ends the loop as {@link #detach()} does, but reports the stopped timers, if any, to {@link TimerListener#loopClosed}.
     * Closing again is harmless.
     *
     * @throws IllegalStateException if called by another thread while the loop's own is alive
     */
    @Override
    public void close() {
        checkThread("close", true);
        worker.loops.close(worker);
    }

    private void check(String method) {
        checkThread(method, false);
        if (worker.detached) {
            throw new IllegalStateException(method + " was called after the loop was closed");
        }
        if (worker.isRunning()) {
            throw new IllegalStateException(method + " was called by a callback that the loop is running");
        }
    }

    private void checkThread(String method, boolean orAnyOnceItHasEnded) {
        Thread owner = worker.thread;
        Thread me = Thread.currentThread();
        if (me != owner && !(orAnyOnceItHasEnded && worker.hasEnded())) {
            throw new IllegalStateException(method + " was called by thread " + me.getName()
                    + ", but the loop belongs to thread " + owner.getName());
        }
    }

    // ---- any thread ----

    @Override
    TimerQueue queue() {
        if (Thread.currentThread() != worker.thread && worker.hasEnded()) {
            worker.loops.closeIfEnded(worker);
            throw new RejectedExecutionException("the loop's thread " + worker.thread.getName() + " has ended");
        }
        if (worker.detached) {
            throw new RejectedExecutionException("the loop is closed");
        }
        return worker.queue;
    }

    /**
     * Thread, state and scheduler, for humans.
     *
     * @return a text without a fixed form
     */
    @Override
    public String toString() {
        return worker.toString();
    }
}
