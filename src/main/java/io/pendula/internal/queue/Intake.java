package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerState.MODIFIED_EARLIER;
import static io.pendula.internal.queue.TimerState.MOVING;
import static io.pendula.internal.queue.TimerState.deadline;
import static io.pendula.internal.queue.TimerState.isArmed;
import static io.pendula.internal.queue.TimerState.isQueued;
import static io.pendula.internal.queue.TimerState.state;

import java.util.function.Consumer;

/**
 * The way of armed timers from the inbox to the heap, in slices that one hold of the lock may do. Guarded by the queue's
 * lock.
 *
 * <p>On the way a timer is in one of these lines: the chain that is being turned round, the backlog, those that
 * a loop defers, those that were armed for the present and need no heap, or those for which there is no memory.
 * To all other threads it is in the inbox all that time.
 */
final class Intake {
    /*
     * Slices. A hold of the lock visits no more than HoldLock.MAX_VISITS timers, so a drain may need several: it takes
     * the inbox as it is, turns that chain round, and appends it to the backlog when the chain is complete, which keeps
     * the order of arming; then it files the backlog. Only then is the inbox looked at again. What is between inbox and
     * heap is as good as in the inbox to all others. It is "something to do": no owner sleeps meanwhile (wakeTime), and
     * a drain whose result is false stands for R1 in no proof.
     */

    /** While an inbox is longer than this, arming threads that cannot help yield. */
    private static final int YIELD_DEPTH = 8 * Inbox.HELP_DEPTH;
    /** More than these go to the heap, which is swept: those in line that are cancelled stay until it is their turn. */
    static final int IMMEDIATE_MAX = 4 * Inbox.HELP_DEPTH;

    /** So many of a loop's timers may stay unfiled in any case. */
    private static final int DEFERRED_MIN = Inbox.HELP_DEPTH / 2;
    /** So many at most, as one drain files them all; and, as of stale entries, no more than a quarter of all. */
    private static final int DEFERRED_MAX = 8 * Inbox.HELP_DEPTH;
    /** Where none was stopped while it was deferred, few are until the inbox was taken so often; then twice as often. */
    private static final int DEFER_PAUSE = 256;
    private static final int DEFER_PAUSE_MAX = 65_536;

    private final Timeline timeline;
    private final HoldLock lock;
    private final Inbox inbox;
    private final Entries entries;
    private final Compactor compactor;
    private final WakeGate gate;
    /** With a manual clock: resets take part in the order of arming among equal deadlines. */
    private final boolean keepOrder;

    /** What the last drain took from the inbox, on its way to the backlog. */
    private final Reversal reversal = new Reversal();
    /** Taken from the inbox and not filed yet. */
    final NodeFifo backlog = new NodeFifo();
    /**
     * Of a loop: taken from the inbox when that became long, and left unfiled until they could be due, as most are stopped
     * before.
     */
    final NodeFifo deferred = new NodeFifo();
    /** Armed for the present, hence due, and in order of their deadlines, so that no heap is needed. */
    final NodeFifo immediate = new NodeFifo();
    final HeapRoom room;
    private final Shortage shortage;

    /** While something is taken out of the line of those that are immediate. */
    private boolean lineClosed;
    /** How often the inbox was taken, and how often when that which was filed last was taken. */
    private long taken;
    private long settled;
    private long deferAgainAt;
    private int deferPause = DEFER_PAUSE;
    /** Timers that were stopped before they were filed. */
    long stops;
    /** How often arming threads have helped. */
    long helps;

    Intake(Timeline timeline, HoldLock lock, Inbox inbox, Entries entries, HeapRoom room, Compactor compactor,
            WakeGate gate, boolean keepOrder) {
        this.timeline = timeline;
        this.lock = lock;
        this.inbox = inbox;
        this.entries = entries;
        this.room = room;
        this.shortage = room.shortage;
        this.compactor = compactor;
        this.gate = gate;
        this.keepOrder = keepOrder;
    }

    // ---- help by threads that arm ----

    void helpIfDeep() {
        if (inbox.depth() >= Inbox.HELP_DEPTH) {
            helpDrain();
        }
    }

    /**
     * Before the own push: a timer that is about to be stopped at once must not go into the heap alive. If another thread
     * has the lock, or waits for it, that one drains. While more arrives than it can file the arming threads leave it
     * their processors.
     */
    void helpDrain() {
        boolean free = !lock.isLocked() && !lock.hasQueuedThreads();
        if (free) {
            StackRoom.check();
        }
        if (free && lock.tryLock()) {
            try {
                helps++;
                if (isAsked() && !keepOrder) {
                    fileOldest();
                } else {
                    drain();
                }
            } finally {
                lock.unlock();
            }
        } else if (inbox.depth() >= YIELD_DEPTH) {
            Thread.yield();
        }
    }

    void drainNow() {
        lock.lock();
        try {
            drainFully();
        } finally {
            lock.unlock();
        }
    }

    // ---- from the inbox to the heap ----

    /**
     * Files what has been armed, in the order of arming, as far as one hold of the lock may.
     *
     * @return false if there is something left: then the inbox may not have been looked at
     */
    boolean drain() {
        assert lock.isHeldByCurrentThread();
        backlog.appendAll(deferred);
        boolean looked = false;
        int counted = 0;
        for (;;) {
            fileBacklog(backlog.size() - counted);
            if (!backlog.isEmpty()) {
                return leaveRest();
            }
            if (reversal.isEmpty()) {
                settled = taken;
                if (looked) {
                    return !shortage.isOn() || lookAtParked();
                }
                if (isAsked() && inbox.arrivals() != Timeline.NEVER) {
                    inbox.setArrivals(Timeline.NEVER); // before the inbox is looked at, see above
                }
                takeInbox();
                looked = true;
                if (reversal.isSingle() && mayVisit(1)) { // as after each firing of a ticker
                    file(reversal.takeSingle());
                    continue;
                }
            }
            counted = turn(backlog);
            if (!reversal.isEmpty()) {
                return leaveRest();
            }
        }
    }

    /** The next arming thread goes on. */
    private boolean leaveRest() {
        inbox.setDepth(Math.max(inbox.depth(), Inbox.HELP_DEPTH));
        return false;
    }

    /** Lock held, and released between slices: until all is filed that was pushed before this call. */
    void drainFully() {
        StackRoom.check();
        for (long before = taken; !drain() && settled <= before; ) {
            lock.giveWay();
        }
    }

    private void takeInbox() {
        taken++;
        TimerNode newest = inbox.take();
        if (newest != null) {
            reversal.begin(newest);
        }
    }

    /** Goes on with the chain, which joins a line when it is complete; returns how many were visited. */
    private int turn(NodeFifo line) {
        int turned = reversal.turn(Math.max(0, lock.left() - HoldLock.SPARE_VISITS));
        lock.visit(turned);
        if (reversal.isComplete()) {
            reversal.appendTo(line);
        }
        return turned;
    }

    /** As far as this hold may; {@code uncounted} of them have not been visited in it. */
    private void fileBacklog(int uncounted) {
        for (int left = uncounted; !backlog.isEmpty() && mayVisit(left); left--) {
            file(backlog.removeFirst());
        }
        compactor.noteSize();
    }

    /** Drops what was stopped and files the oldest; the younger ones may be stopped yet, before they are in the heap. */
    private void fileOldest() {
        if (reversal.isEmpty()) {
            takeInbox();
        }
        int old = backlog.size();
        long stopped = stops;
        int counted = turn(deferred);
        for (int left = deferred.size() - counted; hasOutgrown() && mayVisit(left); left--) {
            TimerNode t = deferred.removeFirst();
            if (!unlinkUnlessArmed(t)) {
                backlog.append(t);
            }
        }
        if (backlog.size() > old && defersMany()) {
            boolean inVain = stops == stopped;
            deferAgainAt = inVain ? taken + deferPause : deferAgainAt;
            deferPause = inVain ? Math.min(2 * deferPause, DEFER_PAUSE_MAX) : DEFER_PAUSE;
        }
        fileBacklog(old);
        if (isUnfinished() || hasOutgrown()) {
            leaveRest();
        }
    }

    /** Whether the first of those that are deferred was stopped, or there are too many. */
    private boolean hasOutgrown() {
        return !deferred.isEmpty()
                && (deferred.size() > deferredMax() || !isArmed(state(deferred.first().wordVolatile())));
    }

    private int deferredMax() {
        return Math.max(DEFERRED_MIN, defersMany() ? Math.min(DEFERRED_MAX, entries.size() >> 2) : 0);
    }

    private boolean defersMany() {
        return taken >= deferAgainAt;
    }

    boolean mayVisit(int uncounted) {
        if (uncounted > 0) {
            if (lock.left() <= HoldLock.SPARE_VISITS) {
                return false;
            }
            lock.visit(1);
        }
        return true;
    }

    /** Whether something is on its way from the inbox to the heap, and may be filed at once. */
    boolean isUnfinished() {
        return !reversal.isEmpty() || !backlog.isEmpty() || shortage.isPassing();
    }

    boolean isAsked() {
        QueueOwner owner = gate.owner();
        return owner != null && owner.asksForArrivals();
    }

    /** Takes out of the inbox: what was stopped is dropped. */
    private void file(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            if (s == MOVING && t.isImmediate() && !keepOrder && !lineClosed && fitsImmediate(deadline(w))) {
                immediate.append(t);
                return;
            }
            if (s == MOVING || s == MODIFIED_EARLIER) {
                if (!room.hasRoom() && !room.makeRoomFor(deadline(w))) {
                    shortage.parked.append(t);
                    return;
                }
                if (t.tryFile(w)) {
                    entries.push(deadline(w), t);
                    return;
                }
            } else if (unlink(t, w)) {
                return;
            }
        }
    }

    /** A stopped or cancelled timer leaves the inbox; false if its word is no longer {@code w}. */
    private boolean unlink(TimerNode t, long w) {
        if (t.tryDrop(w)) {
            stops++;
            return true;
        }
        return false;
    }

    /**
     * Of equal deadlines the heap's come first, so all that are equal to the last one in line must join it, however
     * long the line is.
     */
    private boolean fitsImmediate(long when) {
        if (immediate.isEmpty()) {
            return true;
        }
        long last = deadline(immediate.last().wordVolatile());
        return immediate.size() < IMMEDIATE_MAX ? when >= last : when == last;
    }

    // ---- the lines ----

    /** When the first of those in line is due, or NEVER. */
    long immediateWhen() {
        return immediate.isEmpty() ? Timeline.NEVER : deadline(immediate.first().wordVolatile());
    }

    /** The first in line was stopped or, should that ever happen, reset: then it is filed under its new deadline. */
    void dropFirstImmediate() {
        TimerNode t = immediate.removeFirst(); // before the CAS, see there
        if (!unlinkUnlessArmed(t)) {
            backlog.append(t);
        }
    }

    private void dropStopped(NodeFifo line) {
        for (int n = line.size(); n > 0; n--) {
            TimerNode t = line.removeFirst(); // before the CAS, see there
            if (!unlinkUnlessArmed(t)) {
                line.append(t);
            }
        }
    }

    /**
     * Lets go of a timer that was taken out of a line because it was stopped. False if a reset has armed it again
     * meanwhile: that reset pushed nothing, as the timer was in the line, so the timer must stay in one.
     */
    private boolean unlinkUnlessArmed(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            if (isArmed(state(w))) {
                return false;
            }
            if (unlink(t, w)) {
                return true;
            }
        }
    }

    /** Takes a stopped timer out of the inbox; those in line go into the heap, as a line is not searched. */
    void unlinkStopped(TimerNode t) {
        lock.lock();
        try {
            for (int tries = 0; tries < 2 && isQueued(state(t.wordVolatile())); tries++) {
                backlog.prependAll(immediate);
                lineClosed = true;
                shortage.passNow();
                drainFully();
                while (shortage.isPassing() && isQueued(state(t.wordVolatile()))) {
                    lock.giveWay();
                    drain();
                }
            }
            if (isQueued(state(t.wordVolatile()))) {
                dropStopped(backlog); // another thread has opened the line again
                dropStopped(immediate);
            }
        } finally {
            lineClosed = false;
            lock.unlock();
        }
    }

    boolean isTakenOut() {
        return !reversal.isEmpty() || !backlog.isEmpty() || !deferred.isEmpty() || !shortage.parked.isEmpty();
    }

    /** Something may be waiting in the inbox, or something taken from it could not be filed. */
    boolean hasMail() {
        return inbox.holdsTimers() || isTakenOut();
    }

    /** Whether nothing is on its way. */
    boolean isEmpty() {
        return immediate.isEmpty() && !isTakenOut();
    }

    /** Looks at every timer in a line, after a drain. What was armed since may be in a chain that is being turned. */
    void forEach(Consumer<TimerNode> look) {
        backlog.forEach(look);
        shortage.parked.forEach(look);
        immediate.forEach(look);
    }

    /** The queue is being closed: all that is on its way, and what was in the inbox, is in the backlog then. */
    void gather(TimerNode newest) {
        reversal.turn(Integer.MAX_VALUE);
        reversal.appendTo(backlog);
        backlog.appendAll(deferred);
        backlog.appendAll(shortage.parked);
        if (newest != null) {
            reversal.begin(newest);
            reversal.turn(Integer.MAX_VALUE);
            reversal.appendTo(backlog);
        }
    }

    /** How many armed timers are in the lines. Releases the lock between slices. */
    long armed() {
        return armedIn(backlog) + armedIn(shortage.parked) + armedIn(immediate);
    }

    /** Lock held, and released between slices: those that leave the line meanwhile do so from its front. */
    private long armedIn(NodeFifo line) {
        long armed = 0;
        long at = line.removed();
        TimerNode t = line.firstOrNull();
        for (long end = at + line.size(); t != null && at < end; ) {
            if (!mayVisit(1)) {
                lock.giveWay();
                if (line.removed() > at) {
                    at = line.removed();
                    t = line.firstOrNull();
                }
            } else {
                armed += isArmed(state(t.wordVolatile())) ? 1 : 0;
                t = Inbox.next(t);
                at++;
            }
        }
        return armed;
    }

    // ---- memory shortage ----

    /** A part of a pass, if one is due; true if none is under way then. */
    private boolean lookAtParked() {
        long now = timeline.now();
        if (!shortage.isPassing() && (keepOrder || now >= shortage.lookAt())) {
            shortage.beginPass(now);
        }
        if (shortage.isPassing()) {
            boolean mayGrow = !room.isFull() || room.grow();
            while (shortage.isPassing() && mayVisit(1)) {
                TimerNode t = shortage.next();
                long w = t.wordVolatile();
                if (isArmed(state(w)) && room.isFull() && !shortage.isNear(deadline(w))
                        && !(mayGrow && room.grow())) {
                    mayGrow = false;
                    shortage.parked.append(t);
                } else {
                    file(t);
                }
            }
            shortage.passed(now);
        }
        if (shortage.parked.isEmpty() && room.isAmple()) {
            shortage.ended();
            lock.setScarce(false);
        } else {
            inbox.setDepth(Math.max(inbox.depth(), Inbox.HELP_DEPTH)); // see refuseIfShort
        }
        return !shortage.isPassing();
    }
}
