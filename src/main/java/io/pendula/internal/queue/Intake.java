package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.deadline;
import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.isQueued;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * The way of armed timers from the inbox to the entries, in slices that one hold of the lock may do. Guarded by the
 * queue's lock but for the volatile fields. To all other threads a timer is in the inbox all that time.
 */
final class Intake {
    /*
     * Slices. A hold of the lock visits no more than HoldLock.MAX_VISITS timers, so a drain may need several: it takes
     * the inbox as it is, turns that chain round, and appends it to the backlog when the chain is complete, which keeps
     * the order of arming; then it files the backlog. Only then is the inbox looked at again. What is between inbox and
     * entries is as good as in the inbox to all others. It is "something to do": no owner sleeps meanwhile (wakeTime),
     * and a drain whose result is false stands for R1 in no proof.
     *
     * Memory shortage. If the heap cannot grow, it keeps the timers that are due early: one that is due before the next
     * look but one makes room by parking another, which is due later. All others for which there is no room are parked
     * as well, and so is a put-off timer that would have to move to a full heap. What is parked is in the inbox to all
     * others: its state is MOVING or MODIFIED_EARLIER, and stop and reset need the word alone. It is looked at again
     * before it is due: all of it joins the backlog then. A reset that brings it forward wakes the owner in vain; the next
     * look finds it, and so it may be late by the time between two looks.
     *
     * Memory is short as long as growAt is set: from a failed attempt to grow until nothing is parked and either the time
     * for the next attempt has come or there is ample room. A failed attempt may cost two full collections. So the pause
     * before the next one is a multiple of what it took; it is cut short when the JVM reports that there is memory again.
     *
     * With a manual clock the order of arming counts, and time stands still: there nothing makes room, what is armed
     * while others are parked is parked behind them, and each drain tries to grow, once.
     */

    /** While an inbox is longer than this, arming threads that cannot help yield. */
    private static final int YIELD_DEPTH = 8 * Inbox.HELP_DEPTH;
    /** The shortest time between two attempts to grow. */
    private static final long GROW_NANOS = 100_000_000;
    /** The longest time between two attempts to grow. */
    private static final long MAX_GROW_NANOS = 10_000_000_000L;
    /** The pause after an attempt that failed is this many times as long as the attempt. */
    private static final long GROW_SHARE = 32;
    /** The shortest time between two looks at what is parked. */
    static final long LOOK_NANOS = 10_000_000;
    /** The longest time between two looks at what is parked. */
    private static final long MAX_LOOK_NANOS = 500_000_000;
    /** What each parked timer adds to that time: many times what a look at it costs. */
    private static final long LOOK_NANOS_EACH = 1_000;
    /** This many entries are looked at to find one that is due later than another. */
    private static final int MAKE_ROOM_VISITS = 16;
    /** The shortest time between two reports of a shortage. */
    private static final long REPORT_NANOS = 60_000_000_000L;

    private final int index;
    private final Timeline timeline;
    private final HoldLock lock;
    private final Inbox inbox;
    private final Entries entries;
    private final Compactor compactor;
    private final WakeGate gate;
    /** With a manual clock: resets take part in the order of arming among equal deadlines. */
    private final boolean keepOrder;

    /** Taken from the inbox, newest first, and not turned round yet. */
    private TimerNode chain;
    /** The part of the chain that has been turned round. */
    private final NodeFifo turned = new NodeFifo();
    /** In the order of arming, and not filed yet. */
    final NodeFifo backlog = new NodeFifo();
    /** For which there is no room, as memory is short. In no order, but with a manual clock in that of arming. */
    private final NodeFifo parked = new NodeFifo();

    /** How often the inbox was taken, and how often when that which was filed last was taken. */
    private long taken;
    private long settled;
    /** Timers that were stopped before they were filed. */
    long stops;
    /** How often arming threads have helped. */
    long helps;

    /** When the heap may try to grow again; 0 if memory is not short. Volatile, as failedAt: read by arming threads. */
    volatile long growAt;
    private volatile long failedAt;
    /** When to look at what is parked. */
    private long lookAt;
    /** What is due before this makes room for itself. */
    private long horizon;
    private OutOfMemoryError unreported;
    private long reportedAt;

    Intake(int index, Timeline timeline, HoldLock lock, Inbox inbox, Entries entries, Compactor compactor, WakeGate gate,
            boolean keepOrder) {
        this.index = index;
        this.timeline = timeline;
        this.lock = lock;
        this.inbox = inbox;
        this.entries = entries;
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
                drain();
            } finally {
                lock.unlock();
            }
        } else if (inbox.depth() >= YIELD_DEPTH) {
            Thread.yield();
        }
    }

    // ---- from the inbox to the entries ----

    /**
     * Files what has been armed, in the order of arming, as far as one hold of the lock may.
     *
     * @return false if there is something left: then the inbox may not have been looked at
     */
    boolean drain() {
        assert lock.isHeldByCurrentThread();
        boolean asked = isAsked();
        if (!isTakenOut() && growAt == 0 && !inbox.holdsTimers() && (!asked || inbox.arrivals() == Timeline.NEVER)) {
            settled = taken; // as mostly
            return true;
        }
        boolean looked = false;
        boolean mayLook = true;
        int counted = 0;
        for (;;) {
            fileBacklog(backlog.size() - counted);
            if (!backlog.isEmpty()) {
                return leaveRest();
            }
            if (chain == null) {
                settled = taken;
                if (looked && mayLook && beginLook()) {
                    mayLook = false;
                    continue;
                }
                if (looked) {
                    noteShortage();
                    return true;
                }
                if (asked && inbox.arrivals() != Timeline.NEVER) {
                    inbox.setArrivals(Timeline.NEVER); // before the inbox is looked at, see WakeGate
                }
                taken++;
                chain = inbox.take();
                looked = true;
                if (chain != null && chain.next == null && mayVisit(1)) { // as after each firing of a ticker
                    TimerNode single = chain;
                    chain = null;
                    file(single);
                    continue;
                }
            }
            counted = turn(lock.left() - HoldLock.SPARE_VISITS);
            lock.visit(counted);
            if (chain != null) {
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

    /** Turns this many timers of the chain round at most; when all are, they join the backlog. Returns how many it has. */
    private int turn(int most) {
        int n = 0;
        for (; chain != null && n < most; n++) {
            TimerNode t = chain;
            chain = t.next;
            turned.prepend(t);
        }
        if (chain == null) {
            backlog.appendAll(turned);
        }
        return n;
    }

    /** As far as this hold may; {@code uncounted} of them have not been visited in it. */
    private void fileBacklog(int uncounted) {
        for (int left = uncounted; !backlog.isEmpty() && mayVisit(left); left--) {
            file(backlog.removeFirst());
        }
        compactor.noteSize();
    }

    private boolean mayVisit(int uncounted) {
        if (uncounted > 0) {
            if (lock.left() <= HoldLock.SPARE_VISITS) {
                return false;
            }
            lock.visit(1);
        }
        return true;
    }

    boolean isAsked() {
        QueueOwner owner = gate.owner();
        return owner != null && owner.asksForArrivals();
    }

    /** Takes out of the inbox: what was stopped is dropped. */
    private void file(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            if (!isArmed(state(w))) {
                if (t.tryDrop(w)) {
                    stops++;
                    return;
                }
            } else if (!ensureRoom(deadline(w))) {
                parked.append(t);
                return;
            } else if (t.tryFile(w)) {
                entries.push(deadline(w), t);
                return;
            }
        }
    }

    // ---- the lines ----

    /** Takes a stopped timer out of the inbox. */
    void unlinkStopped(TimerNode t) {
        lock.lock();
        try {
            for (int tries = 0; tries < 2 && isQueued(state(t.wordVolatile())); tries++) {
                lookAt = 0;
                drainFully();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether something is on its way from the inbox to the entries, and may be filed at once. */
    boolean isUnfinished() {
        return chain != null || !backlog.isEmpty();
    }

    boolean isTakenOut() {
        return isUnfinished() || !parked.isEmpty();
    }

    /** Something may be waiting in the inbox, or something taken from it could not be filed. */
    boolean hasMail() {
        return inbox.holdsTimers() || isTakenOut();
    }

    /** Looks at every timer that was taken from the inbox, after a drain. */
    void forEach(Consumer<TimerNode> look) {
        backlog.forEach(look);
        parked.forEach(look);
    }

    /** The queue is being closed: all that is on its way, and what was in the inbox, is in the backlog then. */
    void gather(TimerNode newest) {
        turn(Integer.MAX_VALUE);
        backlog.appendAll(parked);
        chain = newest;
        turn(Integer.MAX_VALUE);
    }

    /** How many armed timers are in the lines. Releases the lock between slices. */
    long armed() {
        return armedIn(backlog) + armedIn(parked);
    }

    /** Lock held, and released between slices: those that leave the line meanwhile do so from its front. */
    private long armedIn(NodeFifo line) {
        long armed = 0;
        long at = line.removed();
        TimerNode t = line.first();
        for (long end = at + line.size(); t != null && at < end; ) {
            if (!mayVisit(1)) {
                lock.giveWay();
                if (line.removed() > at) {
                    at = line.removed();
                    t = line.first();
                }
            } else {
                armed += isArmed(state(t.wordVolatile())) ? 1 : 0;
                t = t.next;
                at++;
            }
        }
        return armed;
    }

    // ---- memory shortage ----

    /** While memory is short the depth of the inbox is told to be large, so that arming threads look here. */
    void refuseIfShort(long when) {
        if (growAt != 0 && !isAmple()) {
            long now = timeline.now();
            if (when > now && !mayGrow(now)) {
                throw new RejectedExecutionException("memory is short: the heap of worker " + index + ", which holds "
                        + entries.size() + " timers, could not grow");
            }
        }
    }

    /** When to look at what is parked, or NEVER. */
    long lookAt() {
        return parked.isEmpty() ? Timeline.NEVER : lookAt;
    }

    private boolean mayGrow(long now) {
        return keepOrder || now >= growAt || now - failedAt >= GROW_NANOS && isMemoryBack();
    }

    private static boolean isMemoryBack() {
        Runtime r = Runtime.getRuntime();
        return r.maxMemory() - r.totalMemory() + r.freeMemory() > r.maxMemory() / 4;
    }

    /** Whether there is room for an entry under this key; it may take the place of another that is due later. */
    private boolean ensureRoom(long when) {
        if (keepOrder && !parked.isEmpty()) {
            return false; // it would overtake those
        }
        if (entries.hasRoom(when) || grow()) {
            return true;
        }
        planFirstLook();
        return when < horizon && makeRoomFor(when);
    }

    private boolean grow() {
        long began = timeline.now();
        if (!mayGrow(began)) {
            return false;
        }
        try {
            entries.ensureRoom();
            return true;
        } catch (OutOfMemoryError e) {
            failed(e, began);
            return false;
        }
    }

    private void failed(OutOfMemoryError e, long began) {
        long now = timeline.now();
        if (growAt == 0) {
            if (reportedAt == 0 || now - reportedAt > REPORT_NANOS) {
                unreported = e;
                reportedAt = now;
            }
            lock.setScarce(true);
        }
        failedAt = now;
        growAt = now + Math.min(MAX_GROW_NANOS, Math.max(GROW_NANOS, GROW_SHARE * (now - began)));
    }

    /** Before the first timer is parked. */
    private void planFirstLook() {
        if (parked.isEmpty()) {
            planLook(timeline.now());
        }
    }

    private void planLook(long now) {
        long pause = Math.max(LOOK_NANOS, Math.min(MAX_LOOK_NANOS, LOOK_NANOS_EACH * parked.size()));
        lookAt = Timeline.plus(now, pause);
        horizon = keepOrder ? 0 : Timeline.plus(now, 2 * pause);
    }

    /** If it is time, all that is parked joins the backlog; false if it is not. */
    private boolean beginLook() {
        boolean begins = !parked.isEmpty() && (keepOrder || timeline.now() >= lookAt);
        if (begins) {
            planLook(timeline.now());
            backlog.appendAll(parked);
        }
        return begins;
    }

    /** After a drain. */
    private void noteShortage() {
        if (growAt == 0) {
            return;
        }
        if (parked.isEmpty() && (isAmple() || timeline.now() >= growAt)) {
            growAt = 0;
            lock.setScarce(false);
        } else {
            leaveRest(); // see refuseIfShort
        }
    }

    private boolean isAmple() {
        TimerHeap heap = entries.heap;
        return heap.capacity() - heap.size() > heap.capacity() >> 4;
    }

    /** By parking what is due later; only the last entries are looked at, as such are. */
    private boolean makeRoomFor(long when) {
        TimerHeap heap = entries.heap;
        for (int i = heap.size() - 1, end = Math.max(0, i - MAKE_ROOM_VISITS); i >= end; i--) {
            if (lock.left() <= HoldLock.SPARE_VISITS) {
                return false;
            }
            lock.visit(1);
            if (compactor.isStale(heap.node(i), heap.seq(i))) {
                entries.removeFromHeap(i);
                compactor.onStaleDropped(1);
                return true;
            }
            if (heap.key(i) > when && park(i)) {
                return true;
            }
        }
        return false;
    }

    /** Lock held. An entry of the heap; false if it has become stale at this moment. */
    boolean park(int i) {
        TimerHeap heap = entries.heap;
        TimerNode t = heap.node(i);
        long w = t.wordVolatile();
        if (!compactor.isLive(t, heap.seq(i), w) || !t.tryPark(w)) {
            return false;
        }
        entries.removeFromHeap(i);
        heap.takeSeq(); // walks and sweeps see that entries have moved
        parked.append(t);
        return true;
    }

    /** Gives the top entry, whose timer was put off and has the word {@code w}, its true key, or parks the timer. */
    void rekeyTop(TimerNode t, long w) {
        if (!entries.hasRoomToRekey(deadline(w)) && !ensureRoom(deadline(w))) {
            if (t.tryPark(w)) {
                entries.pop();
                parked.append(t);
            }
        } else if (t.tryFile(w)) {
            entries.rekeyTop(deadline(w));
        }
    }

    /** What is to be told if memory was short since the last call; else null. */
    Throwable takeReport() {
        if (unreported == null || growAt != 0) { // only when it is over: a report needs memory
            return null;
        }
        lock.lock();
        try {
            OutOfMemoryError e = unreported;
            unreported = null;
            return e == null ? null : new IllegalStateException("memory was short: the heap of worker "
                    + index + " could not grow for a while, so that arming may have been rejected", e);
        } catch (OutOfMemoryError again) {
            return again;
        } finally {
            lock.unlock();
        }
    }
}
