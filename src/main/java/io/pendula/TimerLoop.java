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
 * A worker that is driven by an application's own thread, typically one that waits for I/O: its timers run inside that
 * thread's loop, with no other thread involved.
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
 * <p>A loop that does not wait in a selector asks how long it may wait, and says when it has waited:
 *
 * <pre>{@code
 * Message m = queue.poll(loop.nanosUntilNext(), TimeUnit.NANOSECONDS);
 * loop.runDue();
 * }</pre>
 *
 * <p><b>Which timers.</b> Those that the loop's thread arms by any method of the scheduler, and those that any thread
 * arms by the methods of this class. If the scheduler has no workers, also what threads without a loop arm: each timer
 * goes to one of the loops. All threads may stop and reset them.
 *
 * <p><b>The wakeup</b> that was given to {@link TimerScheduler#attach} makes the thread's present wait, or else its
 * next one, return at once, as {@link Selector#wakeup} and {@link java.util.concurrent.locks.LockSupport#unpark} do. A
 * thread that arms a timer that is due before the loop would wake up calls it, once for each wait. It may be called for
 * other reasons: when stopped timers must be swept or the scheduler closes, and even just after the loop was closed. It
 * should neither block nor throw. If it throws, the {@link TimerListener} is told, the timer stays armed, and the next
 * thread that arms an earlier one calls it again.
 *
 * <p><b>Confined.</b> Callbacks run on the loop's thread and on no other. While the thread is busy elsewhere and does not
 * call {@code runDue} they wait, and {@link TimerListener#loopStalled} tells of a long delay. A scheduler without workers
 * has no thread that would notice. What must not wait for one thread belongs on the scheduler's workers.
 *
 * <p><b>Threads.</b> The thread that attached the loop is the only one that may use it, except for arming. A callback
 * must not call {@code runDue}, {@code nanosUntilNext} or {@code select}; it may close the loop.
 *
 * @since 0.1
 */
public final class TimerLoop extends Armer implements Timers, AutoCloseable {
    private static final long NANOS_PER_MILLI = 1_000_000;

    final LoopWorker worker;

    /** By the attach of {@code worker} alone. */
    TimerLoop(LoopWorker worker) {
        super(worker.engine.timeline);
        this.worker = worker;
    }

    /** The only one that stands for a loop. */
    static TimerLoop of(LoopWorker worker) {
        return (TimerLoop) worker.handle;
    }

    // ---- the loop's thread ----

    /**
     * How long the thread may wait. From now on, until the next call of this method, {@code runDue} or {@code select}, it
     * is taken to wait: a thread that arms an earlier timer calls the wakeup.
     *
     * @return nanoseconds until the next deadline, or less: if timers were stopped or put off a short while ago, and never
     *     more than 15 seconds while anything is armed, so that stopped timers are let go in time (with a
     *     {@link ManualClock}, without that limit); 0 if something is due, or is to be tidied up at the next call, and
     *     once after the scheduler was closed; {@code Long.MAX_VALUE} if nothing is armed and nothing left of stopped timers
     * @throws IllegalStateException if called by another thread, by a callback, or after {@code close}
     */
    public long nanosUntilNext() {
        check("nanosUntilNext");
        return worker.nanosUntilNext();
    }

    /**
     * Runs what is due at this moment, in the order of the deadlines. What a callback arms is left to the next call,
     * even if it is due at once; only what it arms by {@code at} for an instant before this call may run in it. An
     * interrupt flag that a callback leaves set is not seen by the next, but set when this method returns: whether it
     * ends the loop is the application's decision.
     *
     * @return how many firings there were: callbacks that were run, and alarms that rang
     * @throws IllegalStateException if called by another thread, by a callback, or after {@code close}
     */
    public int runDue() {
        return runDue(Integer.MAX_VALUE);
    }

    /**
     * As {@link #runDue()}, but leaves some for later if there are many, so that I/O has its turn.
     *
     * @param limit how many firings there may be, at least 1
     * @return how many firings there were
     * @throws IllegalArgumentException if {@code limit} is less than 1
     * @throws IllegalStateException if called by another thread, by a callback, or after {@code close}
     */
    public int runDue(int limit) {
        Check.atLeast(limit, 1, "limit");
        check("runDue");
        return worker.runDue(limit);
    }

    /**
     * Selects keys: waits until a channel is ready, the next timer is due, or the selector is woken up; does not wait
     * if a timer is due already. Selectors wait for whole milliseconds; the time is rounded up, so that the timer is
     * due afterwards, up to a millisecond ago.
     *
     * @param selector the selector of this thread's loop; its {@code wakeup} should be the one given to {@code attach}
     * @return the number of keys, as {@link Selector#select()} does
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
     * Ends the loop. Its armed timers are stopped, counted as {@linkplain TimerStats#unfired unfired}, and returned;
     * none of the loop's timers can be reset any more. Futures whose timeouts were there complete exceptionally on the
     * calling thread, see {@link #orTimeout}.
     *
     * <p>The thread may attach another loop afterwards; after a call by one of the loop's callbacks, when that has
     * returned. If the thread has ended, any other may end the loop in its place; as soon as the scheduler finds out by
     * itself it does what {@link #close()} does.
     *
     * @return what was armed, as {@link TimerListener#loopClosed} lists it: timers, tickers, alarms, and executors' tasks,
     *     which are cancelled; in no particular order. None of them runs any more. Empty if the loop or the scheduler was
     *     closed before
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
     * Ends the loop as {@link #detach()} does, but reports the timers that were stopped, if there were any, to
     * {@link TimerListener#loopClosed}. Closing again does no harm.
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
     * Thread, state and scheduler, for people.
     *
     * @return a text without a fixed form
     */
    @Override
    public String toString() {
        return worker.toString();
    }
}
