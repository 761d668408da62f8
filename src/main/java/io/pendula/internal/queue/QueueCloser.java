package io.pendula.internal.queue;

import static io.pendula.internal.queue.Compactor.STALE;
import static io.pendula.internal.queue.Compactor.STOP;
import static io.pendula.internal.queue.TimerNode.DELETED;
import static io.pendula.internal.queue.TimerNode.NO_STATUS;
import static io.pendula.internal.queue.TimerNode.RUNNING_ARMED;
import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.isFiled;
import static io.pendula.internal.queue.TimerNode.isQueued;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The end of a queue: waits for the resets under way, then collects the armed timers as unfired. */
public final class QueueCloser {
    /*
     * Closing
     *
     * A reset that has returned has armed the timer: that arming runs, is stopped or replaced, or is collected. A reset
     * that is refused has armed nothing.
     *
     *     a reset that pushes, or arms a run       the closing thread
     *     A1  counts itself in a cell              C1  closed = true
     *     A2  reads closed, is refused if true     C2  waits until it has read 0 in each cell
     *     A3  changes the word by a CAS            C3  inbox = CLOSED
     *     A4  pushes, unless the timer runs        C4  collects what is in the inbox, on its way, and filed
     *     A5  takes itself out of the cell         C5  looks at what runs (collectRunning)
     *                                              C6  collects what is in late
     *
     * All are volatile. C3 and C4 are one hold of the lock.
     *
     * 1. A1 and C1 are a handshake as in WakeGate. If C2 has read the reset's cell before A1, then A2 reads true, and
     *    nothing changes. If A1 came before, so did A5, as the cell said 0. So after C2 no reset is between A2 and A5:
     *    what it has armed is in the inbox, where C4 meets it, or runs, where C5 meets it.
     * 2. So after C2 no timer leaves rest, and no run is armed that was not. C4 leaves no timer in the inbox, on its way or
     *    filed. What is left is what a run had armed before. C5 meets it in its run, or when that has just ended: in a
     *    queued state, armed or stopped. Or the run has ended before C5 and found the inbox closed: then it has handed
     *    the arming to late, before C6. After C5 no such timer is in a queued state, so no reset arms it again. A timer
     *    that was collected is at rest, or runs without an arming, so it is collected once.
     * 3. A reset that takes no part in A1 to A5 changes a word that says that the timer is queued, filed, or armed in its
     *    run. By 2 that is so until C4 or C5 changes it, or the run's end does; and these collect what the reset has
     *    armed, since each takes the word as it is by a CAS. After that the reset's CAS fails.
     *
     * Between A1 and A5 a reset takes no lock, runs no user code and wakes no thread. So a thread that closes never waits
     * for itself, and as a rule C2 takes no time. A thread that is suspended there for PATIENCE_NANOS, as by a debugger,
     * is waited for no longer. Its reset finds the inbox closed after A3. It takes the arming back and is refused, unless
     * another thread has stopped the timer meanwhile. If it had replaced an arming, that one is not told as unfired. If it
     * has armed a run that ends between C5 and C6, that arming is collected, too, and the reset succeeds: of two armings
     * of one timer each is told. If the run ends after C6, it leaves the arming for the reset to take back.
     */

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long LOOK_NANOS = 20_000;

    private final PendingLimit limit;
    private final HoldLock lock;
    private final Inbox inbox;
    private final InboxDrainer drainer;
    private final TimerHeap entries;
    private final Compactor compactor;

    /** Null until the first reset that counts itself: most schedulers never see one. */
    volatile ResetCells cells;
    /** For good. Volatile: read by resets. */
    volatile boolean closed;
    /** Not final for tests alone. */
    long patienceNanos = PATIENCE_NANOS;
    /** Under the lock, as all below: what runs have handed over meanwhile. Linked, as that needs no memory. */
    private TimerNode late;
    /** C6 is done: what a run has armed now, a reset has done that C2 has waited for in vain, and it takes that back. */
    private boolean isOver;
    /** How many timers were collected. */
    long unfired;

    QueueCloser(PendingLimit limit, HoldLock lock, Inbox inbox, InboxDrainer drainer, TimerHeap entries,
            Compactor compactor) {
        this.limit = limit;
        this.lock = lock;
        this.inbox = inbox;
        this.drainer = drainer;
        this.entries = entries;
        this.compactor = compactor;
    }

    boolean isClosed() {
        return closed;
    }

    // ---- permits ----

    /** See PendingLimit.take. Here for all parts of the queue, as most programs never load that class. */
    void takePermit(int permits) {
        if (limit != null) {
            limit.take(permits);
        }
    }

    // ---- resets ----

    /** A1. Returns the cell. Threads that share one are slower, and that is all. */
    int beginReset() {
        ResetCells c = cells;
        int cell = System.identityHashCode(Thread.currentThread()) % ResetCells.CELLS;
        (c == null ? makeCells() : c).add(cell, 1);
        return cell;
    }

    /** A5. */
    void endReset(int cell) {
        cells.add(cell, -1);
    }

    /** A reset that makes them after C2 has found none reads closed after that. */
    private synchronized ResetCells makeCells() {
        if (cells == null) {
            cells = new ResetCells();
        }
        return cells;
    }

    /**
     * After A3 the timer could not be pushed. True if its arming is off now, so that its permit must be released; false
     * if it was stopped meanwhile, or collected.
     */
    boolean takeBack(TimerNode t) {
        return isArmed(take(t, true));
    }

    /** Takes a timer out: the state in which it was; NO_STATUS if it is at rest, or runs and is not to be taken so. */
    private int take(TimerNode t, boolean inRun) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            if (s == RUNNING_ARMED ? !inRun : !isFiled(s) && !isQueued(s) && s != DELETED) {
                return NO_STATUS;
            }
            if (s == RUNNING_ARMED ? t.tryDisarm(w, false) : t.tryRest(w)) {
                if (isQueued(s) && !isArmed(s)) {
                    compactor.count(STOP); // no drain counts it
                }
                return s;
            }
        }
    }

    // ---- closing ----

    /**
     * Closes the queue. If it fails for want of memory, what it has not collected is still here, and the next call goes on.
     * The hold of C3 and C4 is as long as there are timers: the threads that might wait for the lock have no more business
     * here.
     */
    public void close(List<? super TimerNode> collected) {
        closed = true; // C1
        awaitResets();
        lock.lock();
        try {
            drainer.gather(inbox.close());
            while (drainer.isUnfinished()) {
                reserve(collected); // before it is taken out
                collect(drainer.removeNext(), false, collected);
            }
            while (entries.size() > 0) {
                if (!collect(entries.last(), false, collected)) {
                    compactor.count(-STALE); // not what the counter says: some of them may not be counted yet
                }
                entries.removeLast();
            }
            entries.trim();
        } finally {
            lock.unlock();
        }
    }

    /** C2. The caller holds no lock that a reset could wait for. */
    private void awaitResets() {
        ResetCells c = cells;
        long begun = System.nanoTime();
        for (int i = 0; c != null && i < ResetCells.CELLS; i++) {
            while (c.get(i) != 0 && System.nanoTime() - begun < patienceNanos) {
                LockSupport.parkNanos(this, LOOK_NANOS);
            }
        }
    }

    /** Makes room for one more before a word changes: a timer that was stopped and then not noted would be lost. */
    private static void reserve(List<? super TimerNode> collected) {
        collected.add(null);
        collected.remove(collected.size() - 1);
    }

    /** Lock held. True for one entry of each timer that is filed: any other that it has was counted as stale. */
    private boolean collect(TimerNode t, boolean inRun, List<? super TimerNode> collected) {
        reserve(collected);
        int s = take(t, inRun);
        if (isArmed(s)) {
            countUnfired();
            collected.add(t);
        }
        return isFiled(s);
    }

    private void countUnfired() {
        takePermit(-1);
        unfired++;
    }

    /** C5. Takes the next firing of a timer that runs, or whose run is just ending. */
    public void collectRunning(TimerNode t, List<? super TimerNode> collected) {
        lock.lock();
        try {
            collect(t, true, collected);
        } finally {
            lock.unlock();
        }
    }

    /** The run has ended with an arming, and found the inbox closed. No push will follow, so the link is free. */
    void handToCloser(TimerNode t) {
        lock.lock();
        try {
            if (!isOver && takeBack(t)) {
                countUnfired();
                t.next = late;
                late = t;
            }
        } finally {
            lock.unlock();
        }
    }

    /** C6, the last step: all queues are closed and all running timers have been looked at. */
    public void collectLate(List<? super TimerNode> collected) {
        lock.lock();
        try {
            while (late != null) {
                reserve(collected);
                TimerNode t = late;
                late = t.next;
                t.next = null;
                collected.add(t);
            }
            isOver = true;
        } finally {
            lock.unlock();
        }
    }
}
