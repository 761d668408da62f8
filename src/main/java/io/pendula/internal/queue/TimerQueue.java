package io.pendula.internal.queue;

import static io.pendula.internal.queue.Compactor.STALE;
import static io.pendula.internal.queue.Compactor.STOP;
import static io.pendula.internal.queue.TimerNode.DELETED;
import static io.pendula.internal.queue.TimerNode.DELETED_QUEUED;
import static io.pendula.internal.queue.TimerNode.NO_STATUS;
import static io.pendula.internal.queue.TimerNode.REMOVED;
import static io.pendula.internal.queue.TimerNode.RUNNING;
import static io.pendula.internal.queue.TimerNode.RUNNING_ARMED;
import static io.pendula.internal.queue.TimerNode.deadline;
import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.isCancelled;
import static io.pendula.internal.queue.TimerNode.isFiled;
import static io.pendula.internal.queue.TimerNode.isQueued;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;

/**
 * The timers of one worker or loop: the parts that hold them, and what any thread may do with a timer at any time. What the
 * owner does is in {@link DueTimers}; {@link TimerNode} has the table of a timer's transitions, the package the ground
 * rules.
 */
public final class TimerQueue extends Padded {
    /** What a queue, or what has one of its timers, asks of the scheduler that it belongs to. */
    public interface Host {
        String name();

        boolean isClosed();

        /** How long after an entry has become stale the queue is swept if nothing else wakes its owner. */
        long fullSweepNanos();

        /** The run of a timer, or null. */
        Firing runOf(TimerNode timer);
    }

    public final int index;
    public final Timeline timeline;
    /** Null in tests of a queue alone. */
    public final Host host;
    /** With a manual clock: resets take part in the order of arming among equal deadlines. */
    private final boolean keepOrder;

    final HoldLock lock = new HoldLock();
    final TimerHeap entries;
    final Inbox inbox = new Inbox();
    /** Its owner's. */
    public final WakeGate gate;
    public final Compactor compactor;
    final InboxDrainer drainer;
    public final QueueCloser closer;
    public final DueTimers due;
    /** The first of the threads that wait for the end of a callback; null if none does. */
    volatile RunAwaiter awaiters;
    final LongAdder resets;
    /** Under the lock: the most that QueueView has told. */
    long armedTold;
    long stopsTold;

    public TimerQueue(int index, Timeline timeline, Host host, TimerHeap heap, PendingLimit limit, boolean keepOrder,
            WakeGate gate) {
        this(index, timeline, host, heap, limit, keepOrder, gate, new LongAdder());
    }

    TimerQueue(int index, Timeline timeline, Host host, TimerHeap heap, PendingLimit limit, boolean keepOrder, WakeGate gate,
            LongAdder resets) {
        this.index = index;
        this.timeline = timeline;
        this.host = host;
        this.entries = heap;
        this.keepOrder = keepOrder;
        this.resets = resets;
        this.gate = gate;
        this.compactor = new Compactor(entries, lock, gate, keepOrder ? Long.MAX_VALUE
                : host == null ? Compactor.FULL_SWEEP_NANOS : host.fullSweepNanos());
        this.drainer = new InboxDrainer(index, timeline, lock, inbox, entries, compactor, keepOrder);
        this.closer = new QueueCloser(limit, lock, inbox, drainer, entries, compactor);
        this.due = new DueTimers(lock, inbox, drainer, entries, compactor, closer, gate);
    }

    // ---- arm, stop, cancel, reset: any thread, at any time ----

    /** Arms a new timer. */
    public void arm(TimerNode t, long when) {
        if (inbox.depth() >= Inbox.HELP_DEPTH) {
            drainer.helpDrain();
            drainer.refuseIfShort();
        }
        closer.takePermit(1);
        boolean pushed = false;
        boolean tried = false;
        try {
            t.beginMoving(when);
            pushed = inbox.push(t);
            tried = true;
        } finally {
            if (!tried) { // out of stack: no other thread has a timer that was not armed
                closer.takePermit(-1);
                t.forgetArming();
            }
        }
        if (!pushed) {
            if (closer.takeBack(t)) { // else a view's shutdown has found the task, and stopped it, before
                closer.takePermit(-1);
            }
            throw rejected();
        }
        wakeIfBefore(when);
    }

    public boolean stop(TimerNode t) {
        return disarm(t, false);
    }

    public boolean cancel(TimerNode t) {
        boolean prevented = disarm(t, true);
        t.dropTask(); // after the CAS: a claim that reads the task later than this loses its own CAS
        return prevented;
    }

    private boolean disarm(TimerNode t, boolean forGood) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            boolean prevents = isArmed(s) || s == NO_STATUS && t.isReceiver(t.work());
            if (!prevents && !forGood || isCancelled(s)) {
                return false;
            }
            if (tryDisarm(t, w, forGood)) {
                return prevents;
            }
        }
    }

    /**
     * Cancels what has not run to its end; -1 if it has or was cancelled before, else the state that it was in. A run
     * in progress goes on, cancelled from this moment.
     */
    public int abort(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            if (s == NO_STATUS && t.isOver() || isCancelled(s)) {
                return -1;
            }
            if (tryDisarm(t, w, true)) {
                t.dropTask(); // as cancel does
                return s;
            }
        }
    }

    private boolean tryDisarm(TimerNode t, long w, boolean forGood) {
        int s = state(w);
        boolean armed = isArmed(s);
        if (!t.tryDisarm(w, forGood)) {
            return false;
        }
        if (armed) {
            closer.takePermit(-1);
            if (s == RUNNING_ARMED) {
                compactor.count(STOP);
            } else if (!isQueued(s)) { // else the drain counts it
                compactor.onEntryStale(compactor.count(STALE + STOP));
            }
            if (deadline(w) == Timeline.NEVER) {
                gate.wakeIfBefore(Timeline.NEVER - 1); // an owner that sleeps for ever would keep it
            }
        }
        return true;
    }

    /** The own run, about to end, chooses another time for its next firing; nothing if that was stopped meanwhile. */
    public void retime(TimerNode t, long when) {
        for (long w = t.wordVolatile(); state(w) == RUNNING_ARMED; w = t.wordVolatile()) {
            if (t.tryReset(w, when, false)) {
                return;
            }
        }
    }

    /** Makes a stopped timer run on the calling thread, which must fire it and call endRun; false if not stopped. */
    public boolean claimStopped(TimerNode t) {
        if (isQueued(state(t.wordVolatile()))) {
            drainer.drainAll();
        }
        for (long w = t.wordVolatile(); state(w) == REMOVED || state(w) == DELETED; w = t.wordVolatile()) {
            if (t.tryClaimStopped(w)) {
                return true;
            }
        }
        return false;
    }

    /** Arms a timer anew, whatever it did before; true if that replaced a firing that was to come. */
    public boolean reset(TimerNode t, long when) {
        if (keepOrder) {
            drainer.drainAll();
        }
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            if (isCancelled(s)) {
                throw new IllegalStateException("the timer was cancelled, so it cannot be reset");
            }
            if (closer.isClosed()) { // after the word, see QueueCloser
                throw rejected();
            }
            boolean armed = isArmed(s);
            boolean kept = s == NO_STATUS && t.isReceiver(t.work()); // before the CAS: a cancel drops the task
            if (tryReset(t, w, when)) {
                if (armed) {
                    resets.increment(); // last, as it may need memory
                }
                return armed || kept;
            }
        }
    }

    /** Brings a timer forward that is armed by its word {@code w}; false if another thread was quicker. */
    public boolean tryBringForward(TimerNode t, long w, long when) {
        if (closer.isClosed()) {
            throw rejected();
        }
        return tryReset(t, w, when);
    }

    /** False if another thread was quicker. */
    private boolean tryReset(TimerNode t, long w, long when) {
        int s = state(w);
        boolean keepsEntry = (isFiled(s) || s == DELETED) && when >= deadline(w) && !keepOrder;
        if (!keepsEntry && !isQueued(s) && s != RUNNING_ARMED) {
            if (inbox.depth() >= Inbox.HELP_DEPTH) {
                drainer.helpDrain();
            }
            return tryPost(t, w, when);
        }
        if (!tryChange(t, w, when, keepsEntry)) {
            return false;
        }
        // No wake if it keeps its entry: no owner sleeps beyond the key of one that is still there.
        if (s == DELETED_QUEUED) {
            wakeIfBefore(when); // an owner that went to sleep meanwhile may have left it out
            compactor.count(STOP); // the drain will not see that it was stopped
        } else if (isQueued(s) && when < deadline(w)) {
            wakeIfBefore(when); // after WG-W2
        }
        return true;
    }

    /**
     * The word alone. A timer that was not armed takes a permit, and its entry, if it keeps one, is no longer counted as
     * stale. If this fails, both are undone. After an Error the entry may stay uncounted, see Compactor.
     */
    private boolean tryChange(TimerNode t, long w, long when, boolean keepsEntry) {
        boolean takes = !isArmed(state(w));
        if (takes) {
            closer.takePermit(1);
        }
        boolean revives = takes && keepsEntry;
        boolean changed = false;
        try {
            if (revives) {
                compactor.count(-STALE);
            }
            changed = t.tryReset(w, when, keepsEntry); // in the place of WG-W2
        } finally {
            if (takes && !changed) {
                closer.takePermit(-1);
            }
        }
        if (revives && !changed) {
            compactor.count(STALE);
        }
        return changed;
    }

    /**
     * Changes the word to say that the timer is in the inbox, then pushes it; of a timer that runs, to say that it is armed,
     * and the end of its run pushes it. False if another thread was quicker. If the push breaks off or is refused, what the
     * word says is taken back. See QueueCloser.
     */
    private boolean tryPost(TimerNode t, long w, long when) {
        int s = state(w);
        boolean moved = false;
        boolean pushed = false;
        int stale = 0;
        int cell = closer.beginReset();
        try {
            moved = !closer.isClosed() // QC-A2
                    && tryChange(t, w, when, false); // QC-A3
            pushed = moved && (s == RUNNING || inbox.push(t)); // QC-A4
        } finally {
            try {
                if (moved && !pushed && closer.takeBack(t)) {
                    closer.takePermit(-1);
                }
                stale = moved && isFiled(s) ? compactor.count(STALE) : 0;
            } finally {
                closer.endReset(cell);
            }
        }
        if (moved && !pushed) {
            throw rejected();
        }
        if (pushed && s != RUNNING) {
            wakeFor(t);
            compactor.onEntryStale(stale);
        }
        return moved;
    }

    /**
     * After a push of a timer that other threads could reach before it was pushed. One of them may have brought it
     * forward by a CAS of the word alone, and its wake came too early: the owner found nothing in the inbox. So this
     * thread wakes the owner for the deadline that it reads now. A reset after this reading comes after the push, too,
     * so its own wake suffices.
     *
     * <p>The owner is woken for a timer that was filed and stopped in between, too: a reset that makes the entry live
     * again relies on the owner not to sleep beyond it. And it is woken for one that is never due, as the wake of a stop
     * in between came too early as well.
     */
    private void wakeFor(TimerNode t) {
        wakeIfBefore(Math.min(deadline(t.wordVolatile()), Timeline.NEVER - 1));
    }

    /** After something was armed, see WakeGate. */
    private void wakeIfBefore(long when) {
        if (inbox.lowerArrivals(when)) {
            gate.tellFirst();
        }
        gate.wakeIfBefore(when);
    }

    /** The end of a run that was begun by a claim, or by claimStopped; called without the lock, by the thread that ran it. */
    public void endRun(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            boolean again = state(w) == RUNNING_ARMED;
            if (t.tryEndRun(w)) {
                if (again) {
                    if (inbox.push(t)) {
                        wakeFor(t);
                    } else {
                        closer.handToCloser(t);
                    }
                }
                RunAwaiter first = awaiters;
                if (first != null) {
                    RunAwaiter.signal(first, t);
                }
                t.ended(again);
                return;
            }
        }
    }

    // ---- closing: see QueueCloser ----

    private RejectedExecutionException rejected() {
        return new RejectedExecutionException(host == null ? "the scheduler is closed"
                : host.isClosed() ? "scheduler '" + host.name() + "' is closed"
                : "the loop that the timer belongs to is closed");
    }

    public boolean isClosed() {
        return closer.isClosed();
    }

    /** A firing that was claimed will not run, as the queue was closed: it counts as unfired. */
    public void takeBackFiring() {
        lock.lock();
        try {
            due.fired--;
            closer.unfired++;
        } finally {
            lock.unlock();
        }
    }

    // ---- figures ----

    /** Made when asked for: a program that does not ask does not load the class. */
    public QueueView view() {
        return new QueueView(this);
    }
}
