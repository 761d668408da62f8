package io.pendula;

import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.Texts;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/** What fires at a fixed rate: the node of the queue, and its period. */
abstract class PeriodicNode extends QueuedNode {
    /*
     * Two resets at once
     *
     * A reset writes the period, then changes the word, which holds the next deadline, then looks at the period. If
     * that is no longer its own, another reset has come in between, and this one begins anew. So of all resets the one
     * whose change of the word is the last has found its own period after that; another period that is written later is
     * followed by a later change of the word. A tick that is claimed between the two steps may have the new period one
     * deadline earlier; the change of the word that follows replaces that deadline.
     *
     * A reset that throws puts the period back if it finds its own. It cannot tell that from an equal one of another reset,
     * which came in between and succeeded: then that one's first tick is right, and those after it have the old period. That
     * takes a rejection and a success for one ticker at the same moment, with one period. Not to put it back would be worse:
     * a ticker that goes on, as after a reset without stack, would change its period though its reset has thrown.
     */

    private static final AtomicLongFieldUpdater<PeriodicNode> PERIOD =
            AtomicLongFieldUpdater.newUpdater(PeriodicNode.class, "period");

    private final MissedTicks missedTicks;
    private volatile long period;
    /** How many ticks the last claim has left out. Written under the queue's lock, read by the run that follows. */
    private long leftOut;
    /** Written by the one thread that runs the tick. */
    private volatile long skipped;

    PeriodicNode(TimerQueue queue, Runnable task, long period, MissedTicks missedTicks) {
        super(queue, task);
        this.period = period;
        this.missedTicks = missedTicks;
    }

    public final boolean stop() {
        boolean was = queue.stop(this);
        discardBefore(Timeline.NEVER);
        return was;
    }

    public final boolean reset(Duration period) {
        long nanos = Check.period(period);
        boolean was = true;
        long deadline;
        do {
            deadline = queue.timeline.deadlineIn(nanos);
            long before = PERIOD.getAndSet(this, nanos);
            try {
                was &= queue.reset(this, deadline);
            } catch (Throwable e) {
                PERIOD.compareAndSet(this, nanos, before); // unless another reset has changed it
                throw e;
            }
        } while (this.period != nanos);
        discardBefore(deadline);
        return was;
    }

    /** Takes away what is kept from before this thread's stop or reset, whose first tick is due at {@code first}. */
    void discardBefore(long first) {}

    public long missed() {
        return skipped;
    }

    public long ticksInRun() {
        return isRunByCaller() ? leftOut + 1 : 0;
    }

    abstract void tick(Runnable claimed, long deadline);

    @Override
    public final long periodNanos() {
        return period;
    }

    @Override
    protected final long nextAfter(long deadline, long now) {
        long p = period;
        long present = presentAt(now);
        leftOut = missedTicks.missed(deadline, p, present);
        return missedTicks.next(deadline, p, present);
    }

    @Override
    public final boolean fire(Runnable claimed, long deadline) {
        if (leftOut != 0) {
            skipped = skipped + leftOut; // by this thread alone: run k happens-before run k + 1
        }
        tick(claimed, deadline);
        return true;
    }

    @Override
    protected final String tempo() {
        return ", every " + Texts.duration(period);
    }
}
