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
 * The timers of one worker or loop: the parts that hold them, and the operations that any thread may call at any time. The
 * operations of the owner are in {@link DueTimers}. {@link TimerNode} has the table of transitions, the package the ground
 * rules.
 */
public final class TimerQueue extends Padded {
    /** The scheduler of a queue, as the queue and the users of its timers see it. */
    public interface Host {
        String name();

        boolean isClosed();

        /** The time until the queue is swept after an entry has become stale, if no other event wakes its owner. */
        long fullSweepNanos();

        /** The run of a timer, or null. */
        Firing runOf(TimerNode timer);
    }

    public final int index;
    public final Timeline timeline;
    /** Null in tests of a queue alone. */
    public final Host host;
    /** With a manual clock: equal deadlines keep the order of arming, and a reset counts as arming. */
    private final boolean keepOrder;

    final HoldLock lock = new HoldLock();
    final TimerHeap entries;
    final Inbox inbox = new Inbox();
    /** The gate of its owner. */
    public final WakeGate gate;
    public final Compactor compactor;
    final InboxDrainer drainer;
    public final QueueCloser closer;
    public final DueTimers due;
    /** The first thread that waits for the end of a callback; null if none does. */
    volatile RunAwaiter awaiters;
    final LongAdder resets;
    /** Under the lock, both: the highest count that QueueView has returned. */
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
            if (!tried) { // out of stack; no other thread can reach this timer yet
                closer.takePermit(-1);
                t.forgetArming();
            }
        }
        if (!pushed) {
            if (closer.takeBack(t)) { // otherwise a view's shutdown has found the task and stopped it
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
        t.dropTask(); // after the CAS: a claim that reads null loses its own CAS
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
     * Cancels a timer that has not completed, and returns its old state. Returns -1 if it has completed or was cancelled
     * before. A run in progress continues, and counts as cancelled from now on.
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
        closer.ensureRelease();
        if (!t.tryDisarm(w, forGood)) {
            return false;
        }
        if (armed) {
            closer.takePermit(-1);
            if (s == RUNNING_ARMED) {
                compactor.count(STOP);
            } else if (!isQueued(s)) { // otherwise the drain counts it
                compactor.onEntryStale(compactor.count(STALE + STOP));
            }
            if (deadline(w) == Timeline.NEVER) {
                gate.wakeIfBefore(Timeline.NEVER - 1); // otherwise an owner that sleeps without limit would keep its entry
            }
        }
        return true;
    }

    /** Called by the timer's own run before it ends: changes the time of the next firing, unless that was stopped. */
    public void retime(TimerNode t, long when) {
        for (long w = t.wordVolatile(); state(w) == RUNNING_ARMED; w = t.wordVolatile()) {
            if (t.tryReset(w, when, false)) {
                return;
            }
        }
    }

    /** Claims a stopped timer for the calling thread, which must fire it and call endRun. False if it is not stopped. */
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

    /** Arms a timer again, unless it was cancelled. True if that replaced a pending firing. */
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
                    resets.increment(); // last, because it may allocate
                }
                return armed || kept;
            }
        }
    }

    /** Brings forward a timer that is armed according to its word {@code w}. False if the word has changed. */
    public boolean tryBringForward(TimerNode t, long w, long when) {
        if (closer.isClosed()) {
            throw rejected();
        }
        return tryReset(t, w, when);
    }

    /** False if the word has changed. */
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
        // No wake if it keeps its entry: no owner sleeps beyond the key of an existing entry.
        if (s == DELETED_QUEUED) {
            wakeIfBefore(when); // an owner that went to sleep meanwhile may have ignored it
            compactor.count(STOP); // the drain does not see the stop
        } else if (isQueued(s) && when < deadline(w)) {
            wakeIfBefore(when); // after WG-W2
        }
        return true;
    }

    /**
     * Changes only the word. If the timer was not armed, it takes a permit. If it also keeps its entry, the entry is no
     * longer counted as stale. If the change fails, both are undone. After an Error the entry may stay uncounted, see
     * Compactor.
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
     * Changes the word to a queued state, then pushes the timer. If the timer runs, the word becomes RUNNING_ARMED, and
     * the end of the run pushes it. False if the word has changed. If the push fails or is refused, the arming is taken
     * back. See QueueCloser.
     */
    private boolean tryPost(TimerNode t, long w, long when) {
        int s = state(w);
        boolean moved = false;
        boolean pushed = false;
        int stale = 0;
        inbox.countReset(1); // QC-A1
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
                inbox.countReset(-1); // QC-A5
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
     * Called after a push of a timer that other threads could reach before. One of them may have brought it forward by a CAS
     * of the word only. Its wake came too early: the owner found the inbox without the timer. So this thread wakes the owner
     * for the deadline that it reads now. A reset after this read also comes after the push, so its own wake is enough.
     *
     * <p>The owner is also woken for a timer that was filed and stopped in between. A reset that makes the entry live again
     * relies on an owner that does not sleep beyond it. And it is woken for a timer that is never due, because the wake of a
     * stop in between came too early as well.
     */
    private void wakeFor(TimerNode t) {
        wakeIfBefore(Math.min(deadline(t.wordVolatile()), Timeline.NEVER - 1));
    }

    /** Called after a timer was armed, see WakeGate. */
    private void wakeIfBefore(long when) {
        if (inbox.lowerArrivals(when)) {
            gate.tellFirst();
        }
        gate.wakeIfBefore(when);
    }

    /** Ends a run that a claim or claimStopped has begun. Called without the lock, by the thread that ran the timer. */
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

    /** Counts a claimed firing as unfired: the queue was closed, and the firing will not run. */
    public void takeBackFiring() {
        lock.lock();
        try {
            due.fired--;
            closer.unfired++;
        } finally {
            lock.unlock();
        }
    }

    // ---- statistics ----

    /** Made on demand, so that a program without statistics does not load the class. */
    public QueueView view() {
        return new QueueView(this);
    }
}
