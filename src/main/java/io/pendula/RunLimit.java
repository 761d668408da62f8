package io.pendula;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.SchedulerEngine;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * A time limit for blocking work of the calling thread, from {@link Timers#interruptAfter}. When the time is over, the
 * thread is interrupted, whether it is a virtual or a platform thread.
 *
 * <pre>{@code
 * try (RunLimit limit = timers.interruptAfter(Duration.ofSeconds(2))) {
 *     return queue.take();        // throws InterruptedException after two seconds
 * }
 * }</pre>
 *
 * <p><b>After {@link #close} has returned</b>, this limit sends no more interrupts, and no interrupt that it has sent
 * is left in the thread's flag. A limit does not stop work that ignores interrupts.
 *
 * <p><b>Other interrupts.</b> The flag does not show which thread set it. If this limit has sent an interrupt,
 * {@link #close} clears the flag, even if another thread has interrupted at the same time. Otherwise it does not change
 * the flag.
 *
 * <p><b>Nesting.</b> Limits of one thread may enclose each other, and each counts its own time. An inner close never
 * removes the interrupt of an enclosing limit. If the enclosing limit's time is over, too, the flag stays set until that
 * limit is closed. Close them in reverse order, as {@code try} does.
 *
 * <p><b>Threads.</b> Only the limited thread may close the limit; any thread may call {@link #isOver}. The interrupt has
 * the memory effects of {@link Thread#interrupt} only.
 *
 * @since 0.1
 */
public final class RunLimit implements AutoCloseable {
    /*
     * The firing sets INTERRUPTING, interrupts, then sets INTERRUPTED; it does nothing unless it finds OPEN. A close first
     * replaces OPEN, or waits while it finds INTERRUPTING. So no interrupt comes after the close.
     *
     * Nesting: an inner close clears the flag, then checks the enclosing limits; the firing of an enclosing limit changes
     * its state, then sets the flag. So if the close finds an enclosing limit OPEN, the interrupt of that limit comes
     * later. If it finds one that is firing or has fired, it sets the flag again.
     */
    private enum State { OPEN, INTERRUPTING, INTERRUPTED, CLOSED_IN_TIME, CLOSED_LATE }

    /** The innermost limit of each thread, or null. */
    private static final ThreadLocal<RunLimit> INNERMOST = new ThreadLocal<>();

    private final Thread thread = Thread.currentThread();
    /** The enclosing limit, or null. */
    private final RunLimit outer = INNERMOST.get();
    private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);
    private final Timer timer;

    /** {@code timers} makes a timer that is not armed yet. */
    RunLimit(Function<Runnable, Timer> timers, long nanos) {
        timer = timers.apply(new Interruption());
        TimerQueue queue = ((QueuedNode) timer).queue;
        SchedulerEngine engine = (SchedulerEngine) queue.host;
        if (engine.hasLoopOfCaller() && engine.currentQueue() == queue) {
            throw new IllegalStateException("the timers of a loop cannot interrupt the loop's own thread, "
                    + thread.getName() + ", as that thread runs them");
        }
        INNERMOST.set(this);
        try {
            timer.reset(nanos, TimeUnit.NANOSECONDS);
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /** The task of the timer. A close of the scheduler interrupts at once: the work must not continue without a limit. */
    private final class Interruption implements Runnable, Engine.Completion {
        @Override
        public void run() {
            if (state.compareAndSet(State.OPEN, State.INTERRUPTING)) {
                try {
                    thread.interrupt();
                } finally {
                    state.set(State.INTERRUPTED);
                }
            }
        }

        @Override
        public void abandoned(String closed) {
            run();
        }

        @Override
        public String toString() {
            return "interrupt of thread " + thread.getName();
        }
    }

    /**
     * Returns true if the time was over before the limit was closed, so that the thread was interrupted. A close of the
     * scheduler, loop or group counts as the end of the time. Any thread may call this method at any time. The result
     * never changes after the limit is closed.
     *
     * @return true if an interrupt was sent or is being sent
     */
    public boolean isOver() {
        State s = state.get();
        return s != State.OPEN && s != State.CLOSED_IN_TIME;
    }

    /**
     * Ends the limit. If the interrupt is being sent at this moment, this method waits until it is sent. Closing again
     * is harmless.
     *
     * @throws IllegalStateException if called by a thread other than the limited one
     */
    @Override
    public void close() {
        if (Thread.currentThread() != thread) {
            throw new IllegalStateException("the limit of thread " + thread.getName() + " cannot be closed by thread "
                    + Thread.currentThread().getName());
        }
        if (state.compareAndSet(State.OPEN, State.CLOSED_IN_TIME)) {
            timer.cancel();
        }
        while (state.get() == State.INTERRUPTING) {
            Thread.yield(); // the interrupter is between two statements
        }
        if (state.compareAndSet(State.INTERRUPTED, State.CLOSED_LATE) && Thread.interrupted() && isOverAndOpen()) {
            thread.interrupt();
        }
        if (INNERMOST.get() == this) { // not if it was closed before
            INNERMOST.set(outer);
        }
    }

    /** Whether this limit, or an enclosing one, has sent or is sending its interrupt and is not closed. */
    private boolean isOverAndOpen() {
        State s = state.get();
        return s == State.INTERRUPTING || s == State.INTERRUPTED || outer != null && outer.isOverAndOpen();
    }
}
