package io.pendula;

import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.Texts;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/** A node that fires at a fixed rate, with its period. */
abstract class PeriodicNode extends QueuedNode {
    /*
     * Two resets at once
     *
     * A reset writes the period, then changes the word, which holds the next deadline, then checks the period. If it does
     * not find its own period, another reset has written one in between, and this reset starts again. So the reset that
     * changes the word last has found its own period after that change. Any period written later is followed by a later
     * change of the word. A tick that is claimed between the two steps may use the new period one deadline earlier. The
     * following change of the word replaces that deadline.
     *
     * A reset that throws restores the old period if it finds its own. If another reset succeeded in between and wrote an
     * equal period, the two periods cannot be distinguished. Then the first tick of the other reset is right, and later
     * ticks have the old period. This needs a rejection and a success for one ticker at the same moment, with the same
     * period. Not restoring would be worse: if a reset threw for lack of stack, the ticker would continue with the new
     * period.
     */

    /*
     * A tick outside the grid
     *
     * tickNow writes a note with the deadline of that tick and the grid's next deadline, then sets the word to the tick's
     * deadline. A claim of exactly that deadline finds the note, and takes the grid's next deadline from it. Later
     * deadlines are greater, so they never match an old note. They also never match a note whose change of the word failed.
     * One case remains: at the same moment, a reset to the same nanosecond changes the word first. Then one tick is
     * followed by a tick of the old grid.
     */
    private record Beside(long deadline, long next, MissedTicks missedTicks) {}

    private static final AtomicLongFieldUpdater<PeriodicNode> PERIOD =
            AtomicLongFieldUpdater.newUpdater(PeriodicNode.class, "period");

    /** The {@link MissedTicks}; after the first tickNow a {@link Beside}, which contains them. */
    private volatile Object pace;
    private volatile long period;
    /** The number of ticks that the last claim has skipped. Written under the queue's lock, read by the run that follows. */
    private long leftOut;
    /** Written only by the thread that runs the tick. */
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

    /** Synchronized, because a second call could replace the note of the first before it is used. */
    public final synchronized boolean tickNow() {
        for (;;) {
            long w = wordVolatile();
            if (!isArmed(state(w))) {
                return false;
            }
            long next = deadline(w);
            long at = Math.min(next, queue.timeline.deadlineIn(0)); // if a tick is due already, that tick is the run
            if (at < next) {
                Object p = pace;
                pace = new Beside(at, next, p instanceof Beside b ? b.missedTicks : (MissedTicks) p);
            }
            if (queue.tryBringForward(this, w, at)) {
                return true;
            }
        }
    }

    /** Discards ticks kept from before this thread's stop or reset, whose first tick is due at {@code first}. */
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
        if (!(policy instanceof MissedTicks)) { // in this order: loading the other class delays the first tick
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
            skipped = skipped + leftOut; // written only by this thread: run k happens-before run k + 1
        }
        tick(claimed, deadline);
        return true;
    }

    @Override
    protected final String tempo() {
        return ", every " + Texts.duration(period);
    }
}
