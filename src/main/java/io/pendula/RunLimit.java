package io.pendula;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.SchedulerEngine;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * A limit for how long the calling thread may take for something that blocks, from {@link Timers#interruptAfter}. When the
 * time is over, the thread is interrupted, whether it is a virtual or a platform thread.
 *
 * <pre>{@code
 * try (RunLimit limit = timers.interruptAfter(Duration.ofSeconds(2))) {
 *     return queue.take();        // throws InterruptedException after two seconds
 * }
 * }</pre>
 *
 * <p><b>Once {@link #close} has returned</b>, this limit sends no interrupt any more, and none that it has sent is left in
 * the thread's flag. It does not stop work that ignores interrupts.
 *
 * <p><b>Interrupts of others.</b> A flag does not say whose interrupt it is. If this limit has sent one and the flag is set
 * at the close, the close clears it, also if another thread has interrupted at the same time. In time, a close leaves the
 * flag as it is.
 *
 * <p><b>Nesting.</b> Limits of one thread may enclose each other, and each counts its own time. An inner close never takes
 * away the interrupt of an enclosing limit: if the time of that one is over, too, the flag stays set, until that one is
 * closed. Close them in the reverse order, as {@code try} does.
 *
 * <p><b>Threads.</b> The thread that the limit is for closes it; any thread may call {@link #isOver}. The interrupt has the
 * memory effects of {@link Thread#interrupt}, and no others.
 *
 * @since 0.1
 */
public final class RunLimit implements AutoCloseable {
    /*
     * The firing sets INTERRUPTING, interrupts, then sets INTERRUPTED; it does nothing unless it finds OPEN. A close takes
     * OPEN away first, or waits while it finds INTERRUPTING. So no interrupt comes later than the close.
     *
     * Nesting: an inner close clears the flag, then looks at the enclosing limits; the firing of one of these changes its
     * state, then sets the flag. So if the close finds one OPEN, that one's interrupt is still to come; otherwise the close
     * sets the flag again.
     */
    private enum State { OPEN, INTERRUPTING, INTERRUPTED, CLOSED_IN_TIME, CLOSED_LATE }

    /** The innermost limit of each thread, or null. */
    private static final ThreadLocal<RunLimit> INNERMOST = new ThreadLocal<>();

    private final Thread thread = Thread.currentThread();
    /** The enclosing limit, or null. */
    private final RunLimit outer = INNERMOST.get();
    private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);
    private final Timer timer;

    /** {@code timers} makes a timer that is not armed. */
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

    /** The task of the timer. A close of the scheduler interrupts at once: the work is not to go on without a limit. */
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
     * Whether the time was over before the limit was closed, so that the thread was interrupted. Any thread may ask at any
     * time. The answer never changes once the limit is closed.
     *
     * @return true if an interrupt was sent or is being sent; it may have ended a wait already, or still be in the flag
     */
    public boolean isOver() {
        State s = state.get();
        return s != State.OPEN && s != State.CLOSED_IN_TIME;
    }

    /**
     * Ends the limit. If the interrupt is being sent at this moment, waits until it is sent. Closing again does no harm.
     *
     * @throws IllegalStateException if called by another thread than the one that the limit is for
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

    /** Whether an interrupt of this limit, or of one around it, is meant for what the thread does now. */
    private boolean isOverAndOpen() {
        State s = state.get();
        return s == State.INTERRUPTING || s == State.INTERRUPTED || outer != null && outer.isOverAndOpen();
    }
}
