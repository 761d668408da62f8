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

import java.lang.ref.ReferenceQueue;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The timers of one worker or loop: what may be done with them, and the parts that hold them. {@link TimerNode} has the
 * table of their transitions.
 */
final class TimerQueue extends QueueFields {
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

    /** A look at a queue files so many slices at most. */
    private static final int PEEK_SLICES = 16;
    /** Sleeps longer than this are divided. */
    private static final long LONG_SLEEP_NANOS = 1_000_000_000;
    /** A loop leaves put-off timers that are no nearer than this where they are. */
    private static final long LAZY_NANOS = 50_000_000;

    /** Results of prepareToSleep, below every deadline. */
    static final long RETRY = 0;
    static final long NOT_OWNER = -1;

    final int index;
    final Timeline timeline;
    /** Null in tests of a queue alone. */
    final QueueHost host;
    private final PendingLimit limit;
    /** With a manual clock: resets take part in the order of arming among equal deadlines. */
    private final boolean keepOrder;

    private final HoldLock lock = new HoldLock();
    private final TimerHeap heap;
    final Inbox inbox = new Inbox();
    final WakeGate gate;
    final Liveness liveness;
    final Compactor compactor;
    final Intake intake;
    private final QueueCloser closer;
    final RunCompletion runCompletion = new RunCompletion();
    private final LongAdder resets = new LongAdder();

    /** Its loop has gone, so it leaves the scheduler's queues when nothing is armed here. */
    private volatile boolean left;
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
        this.gate = new WakeGate(host);
        this.liveness = new Liveness(heap, keepOrder);
        this.compactor = new Compactor(heap, liveness, lock, gate, keepOrder, host == null ? Compactor.LATE_NANOS
                : host.lateSweepNanos());
        HeapRoom room = new HeapRoom(index, timeline, lock, heap, liveness, compactor, keepOrder);
        this.intake = new Intake(timeline, lock, inbox, heap, room, compactor, gate, overdue, keepOrder);
        this.closer = new QueueCloser(this, lock, inbox, intake, heap, compactor.staleCounter);
    }

    // ---- arm, stop, cancel, reset: any thread, at any time ----

    /** Arms a new timer. */
    void arm(TimerNode t, long when) {
        if (inbox.depth() >= Intake.HELP_DEPTH) {
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
                            closer.settle(t, w, when);
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
                closer.settle(t, w, when);
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

    // ---- what the worker does, lock held ----

    /** Claims the earliest due timer into {@code run}; false if none is due. */
    boolean claimDue(long now, Firing run, boolean stealing) {
        assert lock.isHeldByCurrentThread();
        int dropped = 0;
        try {
            // Bounded, as somebody else may want the lock: prepareToSleep goes on with what is left.
            for (int visits = 0; visits < Compactor.CLEAN_CHUNK; visits++) {
                boolean inLine = intake.immediateWhen() < heap.topKey();
                long when = earliest();
                if (when > now) {
                    return false;
                }
                lock.visit(1);
                TimerNode t = inLine ? intake.immediate.first() : heap.top();
                long w = t.wordVolatile();
                if (inLine ? state(w) == MOVING && deadline(w) == when : liveness.isTopLive(w)) {
                    Runnable task = t.work(); // before the CAS, see cancel
                    long next = t.nextAfter(when, now);
                    if (t.tryClaim(w, when, next, t.isReceiver(task))) {
                        run.begin(t, task, when, now);
                        if (inLine) {
                            intake.immediate.removeFirst();
                        } else {
                            heap.pop();
                        }
                        if (next == 0) {
                            releasePermit();
                        }
                        fired++;
                        if (stealing) {
                            stolen++;
                        }
                        lateness.record(now - when);
                        return true;
                    }
                } else if (inLine) {
                    intake.dropFirstImmediate();
                } else if (liveness.cleanTop()) {
                    dropped++;
                }
            }
            return false;
        } finally {
            setNextWhenOpaque(wakeTime(now));
            compactor.onStaleDropped(dropped);
        }
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

    /**
     * Publishes until when the owner sleeps.
     *
     * @return that deadline; or RETRY if there is still something to do, or NOT_OWNER if another has taken over
     */
    long prepareToSleep(QueueOwner me, long now) {
        lock.lock();
        try {
            return gate.owner() == me ? publishSleep(now) : NOT_OWNER;
        } finally {
            lock.unlock();
        }
    }

    private long publishSleep(long now) {
        if (!intake.drain()) {
            setNextWhenOpaque(wakeTime(now));
            return RETRY;
        }
        if (!compactor.wantsSweep() && !compactor.cleanTops(Timeline.NEVER)) { // a sweep drops many at less cost than so many pops
            return RETRY;
        }
        heap.trim();
        setNextWhenOpaque(wakeTime(now));
        planLateSweep(now);
        long p = Math.min(ahead(wakeTime(now), now), compactor.lateSweepAt());
        compactor.publish(p, now, intake.stops); // W1
        if (!intake.drain() || wakeTime(now) < p || compactor.missesStale()) { // R1
            gate.setPollUntil(WakeGate.AWAKE);
            return RETRY;
        }
        return p;
    }

    // ---- what a worker does ----

    /** Results of {@link #pollOne} and {@link #helpOne}. */
    static final int NOTHING_DUE = 0;
    static final int CLAIMED = 1;
    static final int PUBLISHED = 2;
    static final int NOT_HERE = 3;
    /** Nothing is due of what has been drained, but there is more. */
    static final int MORE = 4;

    /**
     * One step of the poller, in one hold of the lock: claims the earliest timer that is due into {@code run}. If none
     * is, and {@code fresh}, which says that the clock was read for this step, publishes until when the poller can
     * sleep.
     *
     * @param drain whether something may have been armed that was due at {@code now}
     * @param helpBefore who arms for an instant before this from now on must call for help
     */
    int pollOne(QueueOwner me, Firing run, long now, boolean drain, boolean fresh, long helpBefore) {
        lock.lock();
        try {
            if (gate.owner() != me || closer.isClosed()) {
                return NOT_HERE;
            }
            if (fresh) {
                gate.takeUp(helpBefore); // before the drain
            }
            if (drain && intake.hasMail()) {
                intake.drain();
            }
            if (claimDue(now, run, false)) {
                return CLAIMED;
            }
            return fresh && earliest() > now && publishSleep(now) != RETRY ? PUBLISHED : NOTHING_DUE;
        } finally {
            lock.unlock();
        }
    }

    /** One step of a thread that helps: as pollOne, but whoever else is here goes first, and the gate stays as it is. */
    int helpOne(Firing run, long now, boolean drain) {
        if (!lock.tryLock()) {
            return NOT_HERE;
        }
        try {
            if (closer.isClosed()) {
                return NOT_HERE;
            }
            boolean more = drain && intake.hasMail() && !intake.drain();
            return claimDue(now, run, true) ? CLAIMED : more ? MORE : NOTHING_DUE;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The same for a loop. It wakes up for other reasons, too, so a long sleep is not divided; and it polls so often
     * that timers are left in the inbox, and put-off ones under their old keys, until they could be due.
     */
    long prepareToWait(QueueOwner me, long now) {
        lock.lock();
        try {
            if (gate.owner() != me) {
                return NOT_OWNER;
            }
            if (isDrainDue(now) && !intake.drain()) {
                setNextWhenOpaque(wakeTime(now));
                return RETRY;
            }
            if (!compactor.wantsSweep() && !compactor.cleanTops(Timeline.plus(now, LAZY_NANOS))) {
                return RETRY;
            }
            heap.trim();
            setNextWhenOpaque(wakeTime(now));
            planLateSweep(now);
            long p = Math.min(Math.min(wakeTime(now), inbox.arrivals()), compactor.lateSweepAt());
            compactor.publish(p, now, intake.stops); // W1
            if (inbox.arrivals() < p || compactor.missesStale()) { // R1
                gate.setPollUntil(WakeGate.AWAKE);
                return RETRY;
            }
            return p;
        } finally {
            lock.unlock();
        }
    }

    private boolean isDrainDue(long now) {
        return keepOrder || inbox.pushFailed || inbox.arrivals() <= now || intake.isUnfinished() || now >= compactor.lateSweepAt()
                || now >= intake.room.shortage.lookAt();
    }

    private void planLateSweep(long now) {
        if (closer.isClosed()) {
            compactor.stopSweeping();
        } else {
            compactor.planLateSweep(now, intake.hasMail(), intake.stops);
        }
    }

    /** When the owner must be up again, as far as the heap and the backlog tell. */
    private long wakeTime(long now) {
        return Math.min(earliest(), intake.isUnfinished() ? now : intake.room.shortage.lookAt());
    }

    /**
     * A long sleep ends an eighth too early and is followed by a shorter one. That costs three sleeps more in ten
     * minutes, and spares a wake to each timer that is a little earlier than all before it.
     */
    private static long ahead(long when, long now) {
        long left = when - now;
        return left < LONG_SLEEP_NANOS || when == Timeline.NEVER ? when : when - (left >> 3);
    }

    /** Racy, a hint: the earliest deadline from an instant on, or that instant if very many are earlier. */
    long earliestFrom(long from) {
        return heap.earliestFrom(from);
    }

    /** The earliest deadline, as far as filed; it may belong to a stale entry. */
    long earliest() {
        assert lock.isHeldByCurrentThread();
        return Math.min(intake.immediateWhen(), heap.topKey());
    }

    /** The earliest deadline of an armed timer. */
    long earliestLive() {
        lock.lock();
        try {
            intake.drainFully();
            while (!compactor.cleanTops(Timeline.NEVER)) {
                lock.giveWay();
            }
            return heap.topKey();
        } finally {
            lock.unlock();
        }
    }

    /** Files what was armed; false if one hold of the lock could not do all of it. */
    boolean drain() {
        return intake.drain();
    }

    /** Whoever arms next must wake the owner, which is up for all that the gate says, but has no thread. */
    void wakesOnNext(BooleanSupplier isThreadless) {
        lock.lock();
        try {
            if (isThreadless.getAsBoolean()) {
                gate.casPollUntil(WakeGate.AWAKE, Timeline.NEVER);
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- the owner, and what it and thieves need ----

    void lock() {
        lock.lock();
    }

    boolean tryLock() {
        return lock.tryLock();
    }

    void unlock() {
        lock.unlock();
    }

    /** Whether nobody but the owner may run what is due. Never so of a queue that was armed for anybody. */
    boolean isConfined() {
        QueueOwner k = gate.home();
        return k != null && k.isConfined();
    }

    /**
     * Lock held, and released between slices. Files what has arrived, up to a bound, and lets thieves know of it; the
     * earliest deadline.
     */
    long fileAndPeek(long now) {
        for (int slices = 1; !intake.drain() && slices < PEEK_SLICES; slices++) {
            lock.giveWay();
        }
        setNextWhenOpaque(wakeTime(now));
        return earliest();
    }

    /** Lock held. The earliest deadline, as far as filed or as the inbox tells. */
    long earliestTold() {
        return Math.min(earliest(), intake.isAsked() ? inbox.arrivals() : Timeline.NEVER);
    }

    /** Whether there may be an armed timer here. Racy: see Monitor. */
    boolean mayBeArmed() {
        TimerNode head = inbox.head();
        return head != Inbox.CLOSED && (Inbox.isTimer(head) && head != overdue.settled || isAnyFiled() || intake.isTakenOut());
    }

    /** Whether an armed timer is filed, as far as is counted. */
    boolean isAnyFiled() {
        return !intake.immediate.isEmpty() || heap.size() > compactor.staleCounter.stale();
    }

    /** Lock held. Whose deadline is the earliest, or null; it may be stale. */
    TimerNode first() {
        if (intake.immediateWhen() < heap.topKey()) {
            return intake.immediate.first();
        }
        return heap.size() > 0 ? heap.top() : null;
    }

    /** Lock held. A loop polls: what is filed from now on, and not due before now, is for its next visit. */
    void beginPoll(long now) {
        if (isDrainDue(now)) {
            intake.drainFully();
        }
        planLateSweep(now); // as its thread may never say that it waits
        pollSeq = heap.nextSeq();
        pollLine = intake.immediate.removed() + intake.immediate.size();
    }

    /** Lock held. Whether what is first is due, and for this visit. */
    boolean isDueInPoll(long now) {
        if (earliest() <= now) {
            compactor.cleanTops(Timeline.NEVER); // or a claim would drop what is stale and take what comes behind it
        }
        long when = earliest();
        return when < now || when == now
                && (intake.immediateWhen() < heap.topKey() ? intake.immediate.removed() < pollLine : heap.seq(0) - pollSeq < 0);
    }

    /** Lock held. Makes {@code to}, which is up, the owner; null if no thread sleeps for this queue any more. */
    void transfer(QueueOwner to) {
        assert lock.isHeldByCurrentThread();
        gate.setOwner(to);
        gate.takeUp(WakeGate.NO_HELP);
    }

    /** Looks at every timer that is filed here; each armed one once, stopped ones perhaps. */
    void forEach(Consumer<TimerNode> look) {
        lock.lock();
        try {
            intake.drainFully();
            intake.forEach(look);
            for (int i = 0; i < heap.size(); i++) {
                look.accept(heap.node(i));
            }
        } finally {
            lock.unlock();
        }
    }

    /** Looks at what is pending, in slices, until {@code look} says no; false if it did. See PendingWalk. */
    boolean forEachPending(Predicate<TimerNode> look, Runnable forget) {
        return new PendingWalk(lock, intake, heap, liveness).forEach(look, forget);
    }

    // ---- leaving the scheduler's queues, and coming back: see GoneQueues ----

    /** Makes {@code to} owner and owner; null with a manual clock, whose advance runs what is due. */
    void giveTo(QueueOwner to) {
        lock.lock();
        try {
            give(to);
        } finally {
            lock.unlock();
        }
    }

    private void give(QueueOwner to) {
        assert lock.isHeldByCurrentThread();
        gate.setHome(to);
        transfer(to);
        intake.drain(); // so that arrivals says what the owner asks for
    }

    /** As giveTo, when the loop has gone that the queue was made for. */
    void leaveTo(QueueOwner successor) {
        lock.lock();
        try {
            left = true;
            give(successor);
        } finally {
            lock.unlock();
        }
    }

    /** Whether it may be worth to try and retire this queue. The racy read of the size is benign. */
    boolean seemsVacant() {
        return left && heap.size() <= compactor.staleCounter.stale() && inbox.head() == null;
    }

    /** True if nothing was armed here and no callback of this queue runs: then the inbox takes no more timers. */
    boolean retire() {
        lock.lock();
        try {
            // Not all at once, if there is much to drain or to clean: then the next attempt goes on.
            boolean vacant = left && intake.drain() && compactor.cleanTops(Timeline.NEVER) && heap.size() == 0
                    && intake.isEmpty();
            if (!vacant || host.isAnyRunning(this) || !inbox.retire()) {
                return false;
            }
            compactor.stopSweeping();
            setNextWhenOpaque(Timeline.NEVER);
            release();
            return true;
        } finally {
            lock.unlock();
        }
    }

    boolean isRetired() {
        return inbox.isRetired();
    }

    /** Ends the retirement. The owner first, so that each push finds an owner to wake; null if it is closed next. */
    void comeBackTo(QueueOwner successor) {
        lock.lock();
        try {
            give(successor);
            gate.setPollUntil(Timeline.NEVER); // the owner may sleep, and has nothing to do before the push
            inbox.reopen();
        } finally {
            lock.unlock();
        }
    }

    /** No thread sleeps for this queue any more, nor does it keep its last owner in memory. */
    void disown() {
        lock.lock();
        try {
            release();
        } finally {
            lock.unlock();
        }
    }

    private void release() {
        assert lock.isHeldByCurrentThread();
        gate.setHome(null);
        transfer(null);
        overdue.forgetInbox();
        overdue.sleeper = null;
    }

    /** Returns the figures of a queue that is closed or retired, and begins anew from zero. */
    QueueSnapshot takeFigures() {
        lock.lock();
        try {
            long stopped = intake.stops + compactor.staleCounter.stops();
            long reset = resets.sum();
            long unfired = closer.unfired();
            QueueSnapshot figures = new QueueSnapshot(fired, stopped, reset, unfired, 0, 0, 0, compactor.swept(),
                    stolen, intake.helps, Long.MAX_VALUE, lateness.snapshot());
            fired = 0;
            intake.stops -= stopped;
            intake.helps = 0;
            compactor.takeFigures(intake.stops);
            resets.add(-reset);
            closer.takeFigures();
            stolen = 0;
            lateness.clear();
            return figures;
        } finally {
            lock.unlock();
        }
    }

    /** After takeFigures: what is counted from then on. */
    LateCounts lateCounts(ReferenceQueue<? super TimerQueue> unreachable) {
        return new LateCounts(this, resets, compactor.staleCounter, -intake.stops, unreachable);
    }

    // ---- closing: see QueueCloser ----

    boolean isClosed() {
        return closer.isClosed();
    }

    RejectedExecutionException rejected() {
        return new RejectedExecutionException(host == null || host.isClosed() ? "the scheduler is closed"
                : isRetired() ? "memory is short, so the timer's queue cannot take it"
                : "the loop that the timer belongs to is closed");
    }

    void close(List<? super TimerNode> collected) {
        lock.lock();
        try {
            closer.close(collected);
            setNextWhenOpaque(Timeline.NEVER);
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

    void releasePermit() {
        if (limit != null) {
            limit.release();
        }
    }

    // ---- figures ----

    /** Armed timers, not counting those whose next firing awaits the end of their run. */
    long pending() {
        lock.lock();
        try {
            intake.drainFully();
            return waiting();
        } finally {
            lock.unlock();
        }
    }

    private long waiting() {
        return Math.max(0, intake.armed() + heap.size() - compactor.staleCounter.stale());
    }

    /** How many timers one hold of the lock has visited at most. */
    int longestHold() {
        lock.lock();
        try {
            return lock.most();
        } finally {
            lock.unlock();
        }
    }

    QueueSnapshot stats() {
        lock.lock();
        try {
            intake.drainFully();
            long pending = waiting();
            long stopped = intake.stops + compactor.staleCounter.stops();
            long reset = resets.sum();
            long unfired = closer.unfired();
            long next = pending == 0 ? Timeline.NEVER : earliest();
            return new QueueSnapshot(fired, stopped, reset, unfired, pending, compactor.staleCounter.stale(),
                    heap.capacity(), compactor.swept(), stolen, intake.helps,
                    next == Timeline.NEVER ? Long.MAX_VALUE : Math.max(0, next - timeline.now()), lateness.snapshot());
        } finally {
            lock.unlock();
        }
    }
}
