package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.MODIFIED_LATER;
import static io.pendula.internal.queue.TimerNode.deadline;
import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Drains the inbox: takes all timers out and files them, in the order of arming. Parks timers that cannot be filed for lack
 * of memory. Guarded by the queue's lock. Other threads treat all these timers as if they were in the inbox.
 */
final class InboxDrainer {
    /*
     * If the heap has no room for a timer and cannot grow, the timer is parked, and so are all later timers. Its state is
     * MOVING or MODIFIED_EARLIER, so stop and reset need only its word. A drain tries to file the parked timers, the oldest
     * first, if there is room again or the pause is over. Until then a parked timer may be late.
     *
     * While a timer is parked, memory is short, and arming is refused. A failed attempt to grow may cost two full
     * collections. So the pause before the next attempt is a multiple of the time that it took. A manual clock stands still
     * during an attempt, so with it each drain tries.
     */

    /** From this depth on, an arming thread that cannot help yields. */
    private static final int YIELD_DEPTH = 8 * Inbox.HELP_DEPTH;
    /** The pause after a failed attempt to grow is this many times as long as the attempt. */
    static final int PAUSE = 8;

    private final int index;
    private final Timeline timeline;
    private final HoldLock lock;
    private final Inbox inbox;
    private final TimerHeap entries;
    private final Compactor compactor;
    /** Set once by the constructor of DueTimers. */
    DueTimers due;
    /** With a manual clock: equal deadlines keep the order of arming, and a reset counts as arming. */
    private final boolean keepOrder;

    // Each is the first timer of a list linked through TimerNode.next, or null.
    /** Timers taken from the inbox and not filed yet, oldest first. Null between two holds, except in a closed queue. */
    private TimerNode backlog;
    /** Timers for which the heap has no room, newest first. */
    private TimerNode parked;

    /** When the next attempt to grow may begin. */
    private long retryAt;
    private long lastNow;
    /** Thrown by the last failed attempt to grow. */
    private OutOfMemoryError failure;
    /** Volatile: the owner reads and clears it without the lock. */
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
     * Called before the thread's own push, because a timer that is stopped at once should not enter the heap. If another
     * thread has the lock or waits for it, that thread drains. If timers arrive faster than it files them, arming threads
     * yield their processors to it. A thread that arms without a pause uses up its time slices. If a time slice ends under
     * the lock, all other threads wait until the thread runs again.
     */
    void helpDrain() {
        boolean free = !lock.isLocked() && !lock.hasQueuedThreads();
        if (free) {
            Thread.yield(); // so that a new time slice begins, and does not end under the lock
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

    /** Files the timers that have arrived, in the order of arming. */
    void drain() {
        assert lock.isHeldByCurrentThread();
        if (!hasMail() && inbox.arrivals() == Timeline.NEVER) { // else arrivals must be set to NEVER
            return;
        }
        if (parked != null && (entries.hasRoom() || now() >= retryAt)) {
            fileAll(takeParked());
        }
        due.passArrivals(); // before the take, see WakeGate
        fileAll(inbox.take());
        if (parked != null) {
            inbox.setDepth(Inbox.HELP_DEPTH); // so that arming threads call refuseIfShort
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

    /** Files a timer. Drops it if it was stopped, and parks it if the heap has no room. */
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

    /** As drain, for a thread that does not hold the lock. Also drops parked timers that were stopped. */
    void drainAll() {
        lock.lock();
        try {
            fileAll(takeParked());
            drain();
        } finally {
            lock.unlock();
        }
    }

    /** For a loop, which leaves arrived timers in the inbox until one may be due. */
    boolean isDrainDue(long now) {
        return keepOrder || inbox.arrivals() <= now || now >= compactor.fullSweepAt || now >= dueAt();
    }

    // ---- the top ----

    /**
     * Cleans the top until it is live, or was postponed and has a key after {@code lazyFrom}. False if more than a chunk
     * must be cleaned, so that other threads get the lock in between.
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

    /** Drops the top entry if it is stale. Gives it its true key if its timer was postponed. */
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

    // ---- timers not filed yet ----

    /** True only in a queue that is being closed. */
    boolean hasBacklog() {
        return backlog != null;
    }

    /** Whether the inbox holds timers, or a timer is parked. */
    boolean hasMail() {
        return inbox.holdsTimers() || parked != null;
    }

    /** Passes the timers that were taken from the inbox and are not filed. */
    void forEach(Consumer<TimerNode> look) {
        for (TimerNode first : new TimerNode[] {backlog, parked}) {
            for (TimerNode t = first; t != null; t = t.next) {
                look.accept(t);
            }
        }
    }

    /** Takes the oldest timer out of the backlog; null if it is empty. */
    TimerNode removeNext() {
        TimerNode t = backlog;
        if (t != null) {
            backlog = t.next;
            t.next = null; // before its word changes: after that a reset may push it again
        }
        return t;
    }

    /** For a close: moves the parked timers and those of the closed inbox to the backlog. */
    void gather(TimerNode newest) {
        turn(takeParked());
        turn(newest);
        lock.scarce = false; // arming is now refused because the queue is closed, not for lack of memory
        inbox.setDepth(0);
    }

    // ---- memory shortage ----

    /** While memory is short, drains raise the depth of the inbox, so that arming threads call this. */
    void refuseIfShort() {
        if (lock.scarce) {
            throw new RejectedExecutionException("memory is short: the heap of worker " + index + ", which holds "
                    + entries.size() + " timers, could not grow");
        }
    }

    /** Returns the last reading if a user's clock throws, because a timer that is being moved must not be lost. */
    private long now() {
        try {
            lastNow = timeline.now();
        } catch (Throwable e) {
            // The owner reads the same clock, and reports its exceptions.
        }
        return lastNow;
    }

    /** When the next attempt to file parked timers may begin; NEVER if none is parked. */
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

    /** Whether there is room for one more entry. False while timers are parked, because it would overtake them. */
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
            failure = e; // reported if a timer is parked
            long now = now();
            retryAt = Timeline.plus(now, PAUSE * (now - began));
            return false;
        }
    }

    /** The report of a memory shortage since the last call, or null. */
    Throwable takeReport() {
        OutOfMemoryError e = unreported;
        if (e == null || lock.scarce) { // only after the shortage, because a report needs memory
            return null;
        }
        unreported = null;
        return new IllegalStateException("memory was short: the heap of worker " + index
                + " could not grow for a while, so that arming may have been rejected", e);
    }
}
