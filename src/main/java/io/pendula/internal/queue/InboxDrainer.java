package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.MODIFIED_LATER;
import static io.pendula.internal.queue.TimerNode.deadline;
import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.isFiled;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Drains the inbox: takes all timers out and files them, in the order of arming. Parks what cannot be filed for want of memory. Guarded by the queue's lock. To all other threads such a timer is in the inbox.
 */
final class InboxDrainer {
    /*
     * A timer for which the heap has no room, and cannot grow, is parked. Its state is MOVING or MODIFIED_EARLIER, so stop
     * and reset need its word alone. Ten times a second a drain files all parked timers. One that is due before the next such
     * drain takes the place of another that is due later, and that one is parked. A reset that brings a parked timer forward
     * wakes the owner in vain, so the timer may be late by the time between two such drains.
     *
     * Memory is short while anything is parked. Meanwhile arming is refused unless the timer is due. A failed attempt to
     * grow may cost two full collections, so the pause before the next one is a multiple of what it took.
     *
     * With a manual clock the order of arming counts, and time stands still. There no timer takes the place of another,
     * and none is filed while others are parked. Each drain tries to grow, once.
     */

    /** While an inbox is longer than this, arming threads that cannot help yield. */
    private static final int YIELD_DEPTH = 8 * Inbox.HELP_DEPTH;
    /** The longest time between two attempts to grow. */
    private static final long MAX_GROW_NANOS = 10_000_000_000L;
    /** The pause after an attempt that failed is this many times as long as the attempt. */
    private static final long GROW_SHARE = 32;
    /** Between two looks at what is parked. The shortest time between two attempts to grow, too. */
    static final long LOOK_NANOS = 100_000_000;
    /** The shortest time between two reports of a shortage. */
    private static final long REPORT_NANOS = 60_000_000_000L;

    private final int index;
    private final Timeline timeline;
    private final HoldLock lock;
    private final Inbox inbox;
    private final TimerHeap entries;
    private final Compactor compactor;
    /** Made after this, and never changes then. */
    DueTimers due;
    /** With a manual clock: resets take part in the order of arming among equal deadlines. */
    private final boolean keepOrder;

    // Each is the first timer of a list linked through TimerNode.next, or null.
    /** What was taken from the inbox and is not filed yet, oldest first. Null between two holds, but in a closed queue. */
    private TimerNode backlog;
    /** The timers for which the heap has no room, newest first. */
    private TimerNode parked;

    /** How many are parked; some of them may have been stopped since the last look at them. */
    int parkedCount;
    /** When all that is parked is a batch. */
    private long lookAt;
    /** When the next attempt to grow may begin. */
    private long growAt;
    private long lastNow;
    /** Volatile: read by the owner, without the lock. */
    volatile OutOfMemoryError unreported;
    private long nextReportAt;

    /** Timers that were stopped before they were filed. */
    long stops;
    /** How often arming threads have helped. */
    long helps;

    InboxDrainer(int index, Timeline timeline, HoldLock lock, Inbox inbox, TimerHeap entries, Compactor compactor,
            boolean keepOrder) {
        this.index = index;
        this.timeline = timeline;
        this.lock = lock;
        this.inbox = inbox;
        this.entries = entries;
        this.compactor = compactor;
        this.keepOrder = keepOrder;
    }

    // ---- help by threads that arm ----

    /**
     * Before the own push: a timer that is about to be stopped at once must not go into the heap alive. If another thread
     * has the lock, or waits for it, that one drains. While more arrives than it can file the arming threads leave it
     * their processors. A thread that arms without a pause uses up its time slices; if one ends under the lock, all others
     * wait until it has a processor again.
     */
    void helpDrain() {
        boolean free = !lock.isLocked() && !lock.hasQueuedThreads();
        if (free) {
            Thread.yield(); // so that its time slice, new now, does not end while it has the lock
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

    /** Files what has been armed, in the order of arming. */
    void drain() {
        assert lock.isHeldByCurrentThread();
        if (!hasMail() && inbox.arrivals() == Timeline.NEVER) { // else it may have to be set back
            return;
        }
        if (parked != null && (keepOrder || now() >= lookAt)) {
            lookAt = nextLook();
            fileAll(takeParked());
        }
        due.passArrivals(); // before the take, see WakeGate
        fileAll(inbox.take());
        if (parked != null) {
            inbox.setDepth(Inbox.HELP_DEPTH); // the next arming thread looks here
        } else if (lock.scarce) {
            lock.scarce = false;
        }
        compactor.noteSize();
    }

    private TimerNode takeParked() {
        TimerNode newest = parked;
        parked = null;
        parkedCount = 0;
        return newest;
    }

    private void fileAll(TimerNode newest) {
        turn(newest);
        for (TimerNode t = removeNext(); t != null; t = removeNext()) {
            file(t);
        }
    }

    private void turn(TimerNode newest) {
        for (TimerNode t = newest; t != null; ) {
            TimerNode older = t.next;
            t.next = backlog;
            backlog = t;
            t = older;
        }
    }

    /** What was stopped is dropped. */
    private void file(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            if (!isArmed(state(w))) {
                if (t.tryRest(w)) {
                    stops++;
                    return;
                }
            } else if (!ensureRoom(deadline(w))) {
                park(t);
                return;
            } else if (t.tryFile(w)) {
                entries.push(deadline(w), t);
                return;
            }
        }
    }

    /** As drain, for a thread that does not hold the lock. Files what is parked, too, and drops what was stopped. */
    void drainAll() {
        lock.lock();
        try {
            lookAt = 0;
            drain();
        } finally {
            lock.unlock();
        }
    }

    /** For a loop, which leaves what has arrived in the inbox until it may be due. */
    boolean isDrainDue(long now) {
        return keepOrder || inbox.arrivals() <= now || now >= compactor.fullSweepAt || now >= dueAt();
    }

    // ---- the top ----

    /**
     * Cleans the top until it is live, or was postponed and has a key after {@code lazyFrom}. False if there is so much
     * to clean that another thread should get the lock meanwhile.
     */
    boolean cleanTops(long lazyFrom) {
        for (int visits = 0; visits < Compactor.CLEAN_CHUNK; visits++) {
            TimerNode top = entries.top();
            long w = top == null ? 0 : top.wordVolatile();
            if (top == null || compactor.isTopLive(top, w)
                    || entries.topKey() > lazyFrom && state(w) == MODIFIED_LATER) {
                return true;
            }
            cleanTop();
        }
        return false;
    }

    /** Drops the top entry if it is stale, or gives it its true key if its timer was postponed. */
    void cleanTop() {
        TimerNode t = entries.top();
        int seq = entries.topSeq();
        long w = t.wordVolatile();
        if (state(w) != MODIFIED_LATER || t.entry != seq) {
            if (compactor.isStale(t, seq)) {
                entries.pop();
                compactor.onStaleDropped(1);
            }
        } else {
            boolean hasRoom = entries.hasRoom() || grow();
            if (t.tryFile(w)) {
                entries.rekeyTop(deadline(w), hasRoom);
            }
        }
    }

    // ---- what is on its way ----

    /** Whether there is a backlog: in a queue that is being closed. */
    boolean hasBacklog() {
        return backlog != null;
    }

    /** Something may be waiting in the inbox, or something taken from it could not be filed. */
    boolean hasMail() {
        return inbox.holdsTimers() || parked != null;
    }

    /** Shows the timers that were taken from the inbox and are not filed. */
    void forEach(Consumer<TimerNode> look) {
        for (TimerNode first : new TimerNode[] {backlog, parked}) {
            for (TimerNode t = first; t != null; t = t.next) {
                look.accept(t);
            }
        }
    }

    /** Takes the oldest one out of the backlog; null if that is empty. */
    TimerNode removeNext() {
        TimerNode t = backlog;
        if (t != null) {
            backlog = t.next;
            t.next = null; // before its word changes: from then on a reset may push it again
        }
        return t;
    }

    /** The queue is being closed: all that is on its way, and what was in the inbox, is in the backlog then. */
    void gather(TimerNode newest) {
        turn(takeParked());
        turn(newest);
        lock.scarce = false; // what is armed from now on is refused as the queue is closed, not for want of memory
        inbox.setDepth(0);
    }

    // ---- memory shortage ----

    /** While memory is short the depth of the inbox is told to be large, so that arming threads look here. */
    void refuseIfShort(long when) {
        if (lock.scarce && when > timeline.now()) {
            throw new RejectedExecutionException("memory is short: the heap of worker " + index + ", which holds "
                    + entries.size() + " timers, could not grow");
        }
    }

    /** If a clock of the user's throws, the last reading: a timer that is between two places now must not be lost. */
    private long now() {
        try {
            lastNow = timeline.now();
        } catch (Throwable e) {
            // The owner reads the same clock, and reports what that throws.
        }
        return lastNow;
    }

    /** When what is parked is looked at; NEVER if nothing is. */
    long dueAt() {
        return parked == null ? Timeline.NEVER : lookAt;
    }

    private long nextLook() {
        return Timeline.plus(now(), LOOK_NANOS);
    }

    private void park(TimerNode t) {
        if (!lock.scarce) {
            lock.scarce = true;
            lookAt = nextLook();
        }
        t.next = parked;
        parked = t;
        parkedCount++;
    }

    /** Whether there is room for an entry under this key; it may take the place of another that is due later. */
    private boolean ensureRoom(long when) {
        if (keepOrder && parked != null) {
            return false; // it would overtake those
        }
        return entries.hasRoom() || grow() || !keepOrder && makeRoomFor(when);
    }

    private boolean grow() {
        long began = now();
        if (began < growAt && !keepOrder) {
            return false;
        }
        try {
            entries.ensureRoom();
            return true;
        } catch (OutOfMemoryError e) {
            long now = now();
            growAt = now + Math.min(MAX_GROW_NANOS, Math.max(LOOK_NANOS, GROW_SHARE * (now - began)));
            if (!lock.scarce && now >= nextReportAt) {
                unreported = e;
                nextReportAt = now + REPORT_NANOS;
            }
            return false;
        }
    }

    /**
     * For what may be due before the next look at what is parked, if the last entry of the heap is due later. If that
     * is due earlier, it makes room itself when it is.
     */
    private boolean makeRoomFor(long when) {
        return when <= Timeline.plus(now(), 10 * LOOK_NANOS) && entries.lastKey() > when
                && removeLast();
    }

    /** Drops the entry if it is stale, or parks its timer; false if that is just being stopped or reset. */
    boolean removeLast() {
        assert lock.isHeldByCurrentThread();
        TimerNode t = entries.last();
        if (compactor.isStale(t, entries.lastSeq())) {
            compactor.onStaleDropped(1);
        } else {
            long w = t.wordVolatile();
            if (!isFiled(state(w)) || !t.tryPark(w)) {
                return false;
            }
            park(t);
        }
        entries.removeLast();
        entries.nextSeq++; // walks and sweeps see that entries have moved
        return true;
    }

    /** What is to be told if memory was short since the last call; else null. */
    Throwable takeReport() {
        OutOfMemoryError e = unreported;
        if (e == null || lock.scarce) { // only when it is over: a report needs memory
            return null;
        }
        unreported = null;
        return new IllegalStateException("memory was short: the heap of worker " + index
                + " could not grow for a while, so that arming may have been rejected", e);
    }
}
