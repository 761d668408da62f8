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

    /*
     * A tick beside the grid
     *
     * tickNow notes that tick's deadline with the grid's next, then changes the word to that deadline. A claim of just that
     * deadline finds the note, and takes the grid's next from it. Deadlines that come later are greater, so a note that is
     * old, or whose change of the word failed, fits none of them. One case is left: a reset, at the same moment and for the
     * same nanosecond, whose change of the word comes first. Then one tick is followed by the old grid's.
     */
    private record Beside(long deadline, long next, MissedTicks missedTicks) {}

    private static final AtomicLongFieldUpdater<PeriodicNode> PERIOD =
            AtomicLongFieldUpdater.newUpdater(PeriodicNode.class, "period");

    /** The {@link MissedTicks}; once tickNow was called a {@link Beside}, which has them. */
    private volatile Object pace;
    private volatile long period;
    /** How many ticks the last claim has left out. Written under the queue's lock, read by the run that follows. */
    private long leftOut;
    /** Written by the one thread that runs the tick. */
    private volatile long skipped;

    PeriodicNode(TimerQueue queue, Runnable task, long period, MissedTicks missedTicks) {
        super(queue, task);
        this.period = period;
        this.pace = missedTicks;
    }

    public final boolean stop() {
        boolean was = queue.stop(this);
        discardBefore(Timeline.NEVER);
        return was;
    }

    public boolean reset(Duration period) {
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

    /** One at a time, or a note could be replaced before it is used. */
    public final synchronized boolean tickNow() {
        for (;;) {
            long w = wordVolatile();
            if (!isArmed(state(w))) {
                return false;
            }
            long next = deadline(w);
            long at = Math.min(next, queue.timeline.deadlineIn(0)); // a tick that is due already is the one
            if (at < next) {
                Object p = pace;
                pace = new Beside(at, next, p instanceof Beside b ? b.missedTicks : (MissedTicks) p);
            }
            if (queue.tryBringForward(this, w, at)) {
                return true;
            }
        }
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
        Object policy = pace;
        if (!(policy instanceof MissedTicks)) { // in this order, as the first tick would wait for the other class
            Beside b = (Beside) policy;
            if (b.deadline == deadline) {
                leftOut = 0;
                return b.next;
            }
            policy = b.missedTicks;
        }
        MissedTicks missedTicks = (MissedTicks) policy;
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
