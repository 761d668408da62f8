package io.pendula;

import static io.pendula.StaleCounter.STALE;
import static io.pendula.StaleCounter.STOP;
import static io.pendula.TimerState.DELETED;
import static io.pendula.TimerState.DELETED_QUEUED;
import static io.pendula.TimerState.MODIFIED_EARLIER;
import static io.pendula.TimerState.MODIFIED_LATER;
import static io.pendula.TimerState.MOVING;
import static io.pendula.TimerState.NO_STATUS;
import static io.pendula.TimerState.REMOVED;
import static io.pendula.TimerState.RUNNING;
import static io.pendula.TimerState.RUNNING_ARMED;
import static io.pendula.TimerState.WAITING;
import static io.pendula.TimerState.deadline;
import static io.pendula.TimerState.isArmed;
import static io.pendula.TimerState.isCancelled;
import static io.pendula.TimerState.isQueued;
import static io.pendula.TimerState.state;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;

/**
 * The timers of one worker or loop: what may be done with them, and the parts that hold them. {@link TimerNode} has the
 * table of their transitions.
 */
final class TimerQueue extends Padded {
    /*
     * Overview
     *
     * A timer that is armed is pushed to the Inbox by its thread. The thread that keeps the queue takes it out (Intake)
     * and files it in the TimerHeap, unless it was stopped before; later it claims the timer there, runs it, and tells
     * of the end of the run. Before it sleeps it says so at the WakeGate, where threads wake it that arm something
     * earlier. A timer that is stopped or brought forward leaves a stale entry in the heap (Liveness tells which are
     * stale), which the Compactor drops. The QueueCloser takes out what is armed when the queue is closed.
     *
     * Ground rules
     *
     * 1. An armed timer that does not run is in the inbox (or on its way there, in its pusher's hands; or taken out and
     *    in line), or has an entry with key <= deadline: exactly equal if WAITING. Any other entry is stale. It is
     *    dropped when it is met: at the top, or by a sweep. Nothing on the path of an operation ever looks through the
     *    heap.
     * 2. A timer that is brought forward leaves its old entry behind (PLACED). It may later be put off beyond that
     *    entry's key, or come back to exactly that key; then two entries fit its word. They are fungible: the one that
     *    surfaces first is the live one, and as many are counted stale as must be dropped. A sweep of the whole heap
     *    that has dropped too few is repeated as a thorough one. That elects the first entry that it meets: it notes
     *    the entry's sequence number in a Place, and all other entries of the timer are stale from then on. So what is
     *    counted stale is exactly what a thorough sweep drops. A timer that is not PLACED has one entry at most.
     * 3. Whoever makes an entry stale counts it, at that transition; a drain that counted later would meet some twice.
     * 4. The heap grows before a word changes, so running out of memory leaves each timer as it was.
     * 5. No callback runs, and nobody is woken, while the lock is held.
     * 6. Who arms, stops or resets only tries the lock (but with a manual clock, or once the queue is closed or
     *    retired). Those who drive or close the queue, or read its statistics, may wait for it. No hold visits more
     *    timers than HoldLock allows, or copies more than one chunk of the heap; only a close may take longer.
     *
     * Who may touch what
     *
     * field        written by                            read by                          mode
     * node.word    anyone, by CAS                        anyone                           volatile
     * node.next    its pusher before the push; drain     drain; lock holder (a Place)     plain, ordered by the inbox's CAS
     * node.task    constructor; cancel, after its CAS    claim, before its CAS            plain
     * Inbox
     *   head       pushers (CAS); drain, close (swap)    anyone                           volatile
     *   depth      pushers, drain                        arming threads                   opaque, a hint
     *   arrivals   pushers (CAS); drain                  a loop, under the lock           volatile
     *   posts      resets, around a push                 close, under the lock            opaque, ordered by a CAS
     * WakeGate
     *   pollUntil  owner, under the lock; wakers (CAS)   arming threads                   volatile
     *   sleepsLong owner, under the lock                 threads that stop                volatile
     *   owner, home  lock holder (owner also at start)   wakers, workers, monitor         volatile
     * StaleCounter anyone who counts                     anyone                           volatile read-modify-write
     * Compactor.fruitless, sweeping
     *              lock holder                           threads that make entries stale  volatile
     * QueueCloser.closed
     *              close, under the lock                 resets                           volatile
     * nextWhen     lock holder                           thieves, monitor                 opaque, a hint
     * TimerHeap, Liveness, Intake, all else of Compactor and QueueCloser, visit, counters
     *              lock holder                           lock holder (heap.size() also    plain
     *                                                    racily, for a bound)
     *
     * Locks: a queue's lock is the innermost one; nobody holds two. The monitor object of runCompletion nests inside
     * none. The argument why no wake-up is lost: WakeGate. How a close meets those who arm: QueueCloser.
     */

    final int index;
    final Timeline timeline;
    /** Null in tests of a queue alone. */
    final QueueHost host;
    private final PendingLimit limit;
    /** With a manual clock: resets take part in the order of arming among equal deadlines. */
    private final boolean keepOrder;

    final HoldLock lock = new HoldLock();
    final TimerHeap heap;
    final Inbox inbox = new Inbox();
    final WakeGate gate;
    final Liveness liveness;
    final Compactor compactor;
    final Intake intake;
    final QueueCloser closer;
    final DueTimers due;
    final Ownership ownership;
    final RunCompletion runCompletion = new RunCompletion();
    final LongAdder resets = new LongAdder();

    /** The monitor's own note: when the loop that keeps it was first seen to be late, or 0. */
    long lateSince;
    final OverdueNote overdue = new OverdueNote();

    TimerQueue(int index, Timeline timeline, QueueHost host, TimerHeap heap, PendingLimit limit, boolean keepOrder) {
        this.index = index;
        this.timeline = timeline;
        this.host = host;
        this.heap = heap;
        this.limit = limit;
        this.keepOrder = keepOrder;
        this.gate = new WakeGate();
        this.liveness = new Liveness(heap, keepOrder);
        this.compactor = new Compactor(heap, liveness, lock, gate, keepOrder, host == null ? Compactor.LATE_NANOS
                : host.lateSweepNanos());
        HeapRoom room = new HeapRoom(index, timeline, lock, heap, liveness, compactor, keepOrder);
        this.intake = new Intake(timeline, lock, inbox, heap, room, compactor, gate, overdue, keepOrder);
        this.closer = new QueueCloser(limit, lock, inbox, intake, heap, compactor.staleCounter);
        this.due = new DueTimers(lock, inbox, intake, heap, liveness, compactor, closer, gate, limit, keepOrder);
        this.ownership = new Ownership(lock, gate, inbox, intake, heap, compactor, due, overdue);
    }

    // ---- arm, stop, cancel, reset: any thread, at any time ----

    /** Arms a new timer. */
    void arm(TimerNode t, long when) {
        if (inbox.depth() >= Inbox.HELP_DEPTH) {
            intake.room.refuseIfShort(when);
            intake.helpDrain();
        }
        acquirePermit();
        boolean pushed;
        try {
            t.beginMoving(when);
            pushed = push(t);
        } catch (Error e) {
            if (limit != null) {
                synchronized (limit) { // not by a call, as there may be no stack for one
                    limit.returned++;
                }
            }
            throw e;
        }
        if (!pushed) {
            unlinkUnpushed(t);
            throw rejected();
        }
        try {
            wakeIfBefore(when);
        } catch (Error e) {
            inbox.pushFailed = true;
            gate.wakeFailed = true;
            throw e;
        }
    }

    /** A view's shutdown may have found the task, and stopped it, before the queue refused it. */
    private void unlinkUnpushed(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            if (t.tryCollect(w)) {
                if (isArmed(state(w))) {
                    releasePermit();
                }
                return;
            }
        }
    }

    boolean stop(TimerNode t) {
        return disarm(t, false);
    }

    boolean cancel(TimerNode t) {
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
    int abort(TimerNode t) {
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
            try {
                releasePermit();
            } catch (StackOverflowError e) {
                if (limit != null) {
                    synchronized (limit) { // not by a call, as in arm
                        limit.returned++;
                    }
                }
                throw e;
            }
            if (s == RUNNING_ARMED) {
                compactor.staleCounter.add(STOP);
            } else if (isQueued(s)) {
                gate.callForStale();
            } else {
                compactor.tidyUp(compactor.staleCounter.add(STALE + STOP));
            }
        }
        return true;
    }

    /** The own run, about to end, chooses another time for its next firing; nothing if that was stopped meanwhile. */
    void retime(TimerNode t, long when) {
        for (long w = t.wordVolatile(); state(w) == RUNNING_ARMED; w = t.wordVolatile()) {
            if (t.tryRearmRunning(w, when)) {
                return;
            }
        }
    }

    /** Makes a stopped timer run on the calling thread, which must fire it and call endRun; false if not stopped. */
    boolean claimStopped(TimerNode t) {
        if (isQueued(state(t.wordVolatile()))) {
            intake.unlinkStopped(t);
        }
        for (long w = t.wordVolatile(); state(w) == REMOVED || state(w) == DELETED; w = t.wordVolatile()) {
            if (t.tryClaimStopped(w)) {
                return true;
            }
        }
        return false;
    }

    /** Arms a timer anew, whatever it did before; true if that replaced a firing that was to come. */
    boolean reset(TimerNode t, long when) {
        if (keepOrder) {
            intake.drainNow();
        }
        try {
            return rearm(t, when);
        } catch (Error e) {
            inbox.pushFailed = true; // whatever it has not done: stores are all that it can do without stack
            gate.wakeFailed = true;
            throw e;
        }
    }

    private boolean rearm(TimerNode t, long when) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            long old = deadline(w);
            boolean later = when >= old && !keepOrder;
            if (closer.isClosed() && !isCancelled(s)) { // after the word, see QueueCloser
                throw rejected();
            }
            switch (s) {
                case MOVING:
                case MODIFIED_EARLIER:
                    if (t.tryRetimeQueued(w, when)) {
                        resets.increment();
                        if (when < old) {
                            wakeIfBefore(when); // the CAS of the word stands for the push
                        } else if (gate.wakeFailed) { // no call without need: the stack may be short
                            gate.wakeAgain();
                        }
                        return true;
                    }
                    break;
                case WAITING:
                case MODIFIED_LATER:
                    if (later) {
                        if (t.tryPostpone(w, when)) {
                            resets.increment();
                            return true;
                        }
                    } else {
                        intake.helpIfDeep();
                        if (tryPost(t, w, when, false)) {
                            resets.increment();
                            compactor.tidyUp(compactor.staleCounter.add(STALE)); // that can wait until the timer is in the inbox
                            return true;
                        }
                    }
                    break;
                case DELETED:
                    if (later) {
                        // No wake: nobody sleeps beyond the key of an entry that is still there.
                        if (tryArm(t, w, when)) {
                            compactor.staleCounter.add(-STALE);
                            return false;
                        }
                    } else {
                        intake.helpIfDeep();
                        if (tryPost(t, w, when, true)) {
                            return false;
                        }
                    }
                    break;
                case NO_STATUS:
                case REMOVED:
                    intake.helpIfDeep();
                    boolean kept = s == NO_STATUS && t.isReceiver(t.work()); // before the CAS: a cancel drops the task
                    if (tryPost(t, w, when, true)) {
                        return kept;
                    }
                    break;
                case DELETED_QUEUED:
                    if (tryArm(t, w, when)) {
                        compactor.staleCounter.add(STOP); // the drain will not see that it was stopped
                        wakeIfBefore(when); // whoever went to sleep meanwhile may have left it out
                        return false;
                    }
                    break;
                case RUNNING:
                    if (tryArm(t, w, when)) {
                        if (closer.isClosed()) {
                            settle(t, w, when);
                        }
                        return false;
                    }
                    break;
                case RUNNING_ARMED:
                    if (t.tryRearmRunning(w, when)) {
                        resets.increment();
                        return true;
                    }
                    break;
                default:
                    throw new IllegalStateException("the timer was cancelled, so it cannot be reset");
            }
        }
    }

    /** reset of a stopped timer that need not be pushed: its permit is given back unless this succeeds. */
    private boolean tryArm(TimerNode t, long w, long when) {
        acquirePermit();
        boolean armed = false;
        try {
            int s = state(w);
            armed = s == RUNNING ? t.tryRearmRunning(w, when)
                    : s == DELETED ? t.tryPostpone(w, when) : t.tryRetimeQueued(w, when);
        } finally {
            if (!armed && limit != null) {
                synchronized (limit) { // not by a call, as in arm
                    limit.returned++;
                }
            }
        }
        return armed;
    }

    /** Takes the firing that waits for a receiver; false if another thread was quicker. */
    boolean receive(TimerNode t, long w) {
        return t.tryReceive(w);
    }

    private boolean push(TimerNode t) {
        for (;;) {
            TimerNode refused = inbox.push(t);
            if (refused == null) {
                return true;
            }
            if (refused == Inbox.CLOSED || !host.bringBack(this)) {
                return false;
            }
        }
    }

    /**
     * Changes the word to say that the timer is in the inbox, then pushes it; false if another thread was quicker. If
     * that arms the timer it takes a permit.
     */
    private boolean tryPost(TimerNode t, long w, long when, boolean arms) {
        boolean pushed;
        boolean pushing = false;
        boolean permit = false;
        Posts p = inbox.posts();
        int slot = p.enter(t);
        try {
            if (arms) {
                acquirePermit();
                permit = true;
            }
            if (closer.isClosed() || !t.tryMove(w, when)) { // after it has entered, see QueueCloser
                return false;
            }
            permit = false; // the timer has it
            pushing = true;
            pushed = push(t);
            pushing = false;
            if (!pushed) {
                settle(t, w, when);
            }
        } finally {
            if (permit && limit != null) {
                synchronized (limit) { // not by a call, as in arm
                    limit.returned++;
                }
            }
            if (pushing) { // out of stack, so by a store alone; reset does the rest
                t.next = Inbox.UNPUSHED;
            } else {
                p.leave(slot, t);
            }
        }
        if (pushed) {
            wakeFor(t);
        }
        return true;
    }

    /**
     * After a push of a timer that other threads could reach before it was pushed. One of them may have brought it
     * forward by a CAS of the word alone, and its wake came too early: the owner found nothing in the inbox. So this
     * thread wakes the owner for the deadline that it reads now. A reset after this reading comes after the push, too,
     * so its own wake suffices. The same goes for a stop in the inbox and the call for a late drain.
     *
     * <p>The owner is woken for a timer that was filed and stopped in between, too: a reset that makes the entry live
     * again relies on the owner not to sleep beyond it.
     */
    private void wakeFor(TimerNode t) {
        long w = t.wordVolatile();
        if (isQueued(state(w)) && !isArmed(state(w))) {
            gate.callForStale();
        } else {
            wakeIfBefore(deadline(w));
        }
    }

    /** After something was armed, see WakeGate. */
    private void wakeIfBefore(long when) {
        inbox.lowerArrivals(when);
        gate.wakeIfBefore(when);
    }

    /**
     * The end of a run that was begun by claimDue; called without the lock, by whatever thread ran it. True if the
     * timer was armed again.
     */
    boolean endRun(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            boolean again = state(w) == RUNNING_ARMED;
            if (t.tryEndRun(w)) {
                if (again) {
                    if (push(t)) {
                        wakeFor(t);
                    } else {
                        closer.handToCloser(t);
                    }
                }
                runCompletion.signal(t);
                t.ended(again);
                return again;
            }
        }
    }

    // ---- closing: see QueueCloser ----

    private void settle(TimerNode t, long before, long when) {
        if (closer.settle(t, before, when)) {
            throw rejected();
        }
    }

    private RejectedExecutionException rejected() {
        return new RejectedExecutionException(host == null || host.isClosed() ? "the scheduler is closed"
                : inbox.isRetired() ? "memory is short, so the timer's queue cannot take it"
                : "the loop that the timer belongs to is closed");
    }

    boolean isClosed() {
        return closer.isClosed();
    }

    void close(List<? super TimerNode> collected) {
        lock.lock();
        try {
            closer.close(collected);
            due.setNextWhenOpaque(Timeline.NEVER);
        } finally {
            lock.unlock();
        }
    }

    void collectRunning(TimerNode t, List<? super TimerNode> collected) {
        closer.collectRunning(t, collected);
    }

    void collectLate(List<? super TimerNode> collected) {
        closer.collectLate(collected);
    }

    // ---- permits: without a bound not even the class is loaded ----

    private void acquirePermit() {
        if (limit != null) {
            limit.acquire();
        }
    }

    private void releasePermit() {
        if (limit != null) {
            limit.release();
        }
    }

    // ---- for those who watch ----

    /** Made when asked for: a program that does not ask does not load the class. */
    QueueView view() {
        return new QueueView(this);
    }
}
