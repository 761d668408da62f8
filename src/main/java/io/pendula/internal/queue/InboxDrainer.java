package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.MODIFIED_LATER;
import static io.pendula.internal.queue.TimerNode.deadline;
import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Drains the inbox: takes all timers out and files them, in the order of arming. Parks what cannot be filed for want of memory.
 * Guarded by the queue's lock. To all other threads such a timer is in the inbox.
 */
final class InboxDrainer {
    /*
     * If the heap has no room for a timer, and cannot grow, the timer is parked, and so are all that come after it. Its state
     * is MOVING or MODIFIED_EARLIER, so stop and reset need its word alone. A drain tries to file what is parked, the oldest
     * first, if there is room again or the pause is over. Until then a parked timer may be late.
     *
     * Memory is short while anything is parked. Meanwhile arming is refused. A failed attempt to grow may cost two full
     * collections, so the pause before the next one is a multiple of what it took. A manual clock stands still meanwhile, so
     * there each drain tries.
     */

    /** While an inbox is longer than this, arming threads that cannot help yield. */
    private static final int YIELD_DEPTH = 8 * Inbox.HELP_DEPTH;
    /** The pause after an attempt to grow that failed is this many times as long as the attempt. */
    static final int PAUSE = 8;

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

    /** When the next attempt to grow may begin. */
    private long retryAt;
    private long lastNow;
    /** Of the last attempt that failed. */
    private OutOfMemoryError failure;
    /** Volatile: read by the owner, without the lock. */
    volatile OutOfMemoryError unreported;

    /** Timers that were stopped before they were filed. */
    long stops;

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
        if (parked != null && (entries.hasRoom() || now() >= retryAt)) {
            fileAll(takeParked());
        }
        due.passArrivals(); // before the take, see WakeGate
        fileAll(inbox.take());
        if (parked != null) {
            inbox.setDepth(Inbox.HELP_DEPTH); // the next arming thread looks here
        }
        compactor.noteSize();
    }

    private TimerNode takeParked() {
        TimerNode newest = parked;
        parked = null;
        return newest;
    }

    private void fileAll(TimerNode newest) {
        turn(newest);
        for (TimerNode t = removeNext(); t != null; t = removeNext()) {
            file(t);
        }
        if (parked == null && lock.scarce) {
            lock.scarce = false;
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
            } else if (!ensureRoom()) {
                park(t);
                return;
            } else if (t.tryFile(w)) {
                entries.push(deadline(w), t);
                return;
            }
        }
    }

    /** As drain, for a thread that does not hold the lock. Of what is parked it drops what was stopped. */
    void drainAll() {
        lock.lock();
        try {
            fileAll(takeParked());
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
    void refuseIfShort() {
        if (lock.scarce) {
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

    /** When filing what is parked is tried again; NEVER if nothing is. */
    long dueAt() {
        return parked == null ? Timeline.NEVER : retryAt;
    }

    private void park(TimerNode t) {
        if (!lock.scarce) {
            lock.scarce = true;
            unreported = failure;
        }
        t.next = parked;
        parked = t;
    }

    /** Whether there is room for one more entry. Not while others are parked, as it would overtake those. */
    private boolean ensureRoom() {
        return parked == null && (entries.hasRoom() || grow());
    }

    private boolean grow() {
        long began = now();
        if (began < retryAt) {
            return false;
        }
        try {
            entries.ensureRoom();
            return true;
        } catch (OutOfMemoryError e) {
            failure = e; // to be reported if a timer is parked
            long now = now();
            retryAt = Timeline.plus(now, PAUSE * (now - began));
            return false;
        }
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
