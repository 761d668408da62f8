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
     *     a reset that pushes, or arms a run          the closing thread
     *     QC-A1  counts itself in a cell              QC-C1  closed = true
     *     QC-A2  reads closed, is refused if true     QC-C2  waits until it has read 0 in each cell
     *     QC-A3  changes the word by a CAS            QC-C3  inbox = CLOSED
     *     QC-A4  pushes, unless the timer runs        QC-C4  collects what is in the inbox, and on its way
     *     QC-A5  takes itself out of the cell         QC-C5  collects what is filed
     *                                                 QC-C6  looks at what runs
     *                                                 QC-C7  collects what is in late
     *
     * All are volatile. QC-C3 to QC-C5 are one hold of the lock.
     *
     * 1. QC-A1 and QC-C1 are a handshake as in WakeGate. If QC-C2 has read the reset's cell before QC-A1, then QC-A2
     *    reads true, and nothing changes. If QC-A1 came before, so did QC-A5, as the cell said 0. So after QC-C2 no reset
     *    is between QC-A2 and QC-A5: what it has armed is in the inbox, where QC-C4 meets it, or runs, where QC-C6 does.
     * 2. So after QC-C2 no reset takes a timer out of rest, or arms a run. QC-C4 and QC-C5 leave no timer in the inbox,
     *    on its way or filed. What is left is what a run had armed before. QC-C6 meets it in its run, or when that
     *    has just ended: in a queued state, armed or stopped. Or the run has ended before QC-C6 and found the inbox
     *    closed: then it has handed the arming to late, before QC-C7. After QC-C6 no such timer is in a queued state, so
     *    no reset arms it again. A timer that was collected is at rest, or runs without an arming, so it is collected
     *    once.
     * 3. A reset that takes no part in QC-A1 to QC-A5 changes a word that says that the timer is queued, filed, stopped
     *    with its entry still there (DELETED), or armed in its run. By 2 that is so until QC-C4, QC-C5 or QC-C6 changes it,
     *    or a claim, a sweep or the run's end does. The first three collect what the reset has armed, since each takes the
     *    word as it is by a CAS; a claim runs it. After that the reset's CAS fails.
     *
     * Between QC-A1 and QC-A5 a reset takes no lock, runs no user code and wakes no thread. So a thread that closes never
     * waits for itself, and as a rule QC-C2 takes no time. The wait is limited to PATIENCE_NANOS: a thread that runs out of
     * stack may lack the stack for QC-A5 too, even in a finally, and the close would hang. The proof does not cover a
     * reset that is suspended for longer, as by a debugger. It finds the inbox closed at QC-A4, takes its arming back and is
     * refused. But an arming that it replaced, or one in a run, may be lost.
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

    /** Returns the cell. Threads that share one are slower, and that is all. */
    int beginReset() {
        ResetCells c = cells;
        int cell = System.identityHashCode(Thread.currentThread()) % ResetCells.CELLS;
        (c == null ? makeCells() : c).add(cell, 1); // QC-A1
        return cell;
    }

    void endReset(int cell) {
        cells.add(cell, -1); // QC-A5
    }

    /** A reset that makes them after QC-C2 has found none reads closed after that. */
    private synchronized ResetCells makeCells() {
        if (cells == null) {
            cells = new ResetCells();
        }
        return cells;
    }

    /**
     * After QC-A3 the timer could not be pushed. True if its arming is off now, so that its permit must be released; false
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
     * The hold of the lock lasts the longer the more timers there are: a closed queue has nothing for a thread that waits
     * for the lock.
     */
    public void close(List<? super TimerNode> collected) {
        closed = true; // QC-C1
        awaitResets();
        lock.lock();
        try {
            drainer.gather(inbox.close()); // QC-C3
            while (drainer.hasBacklog()) { // QC-C4
                reserve(collected); // before it is taken out
                collect(drainer.removeNext(), false, collected);
            }
            while (entries.size() > 0) { // QC-C5
                if (!collect(entries.top(), false, collected)) {
                    compactor.count(-STALE); // not what the counter says: some of them may not be counted yet
                }
                entries.pop();
            }
            entries.trim();
        } finally {
            lock.unlock();
        }
    }

    /** The caller holds no lock that a reset could wait for. */
    private void awaitResets() {
        ResetCells c = cells;
        long begun = System.nanoTime();
        for (int i = 0; c != null && i < ResetCells.CELLS; i++) {
            while (c.get(i) != 0 && System.nanoTime() - begun < patienceNanos) { // QC-C2
                LockSupport.parkNanos(this, LOOK_NANOS);
            }
        }
    }

    /** Makes room for one more before a word changes: a timer that was stopped and then not noted would be lost. */
    private static void reserve(List<? super TimerNode> collected) {
        collected.add(null);
        collected.remove(collected.size() - 1);
    }

    /** True for one entry of each timer that is filed: any other that it has was counted as stale. */
    private boolean collect(TimerNode t, boolean inRun, List<? super TimerNode> collected) {
        assert lock.isHeldByCurrentThread();
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

    /** Takes the next firing of a timer that runs, or whose run is just ending. */
    public void collectRunning(TimerNode t, List<? super TimerNode> collected) {
        lock.lock();
        try {
            collect(t, true, collected); // QC-C6
        } finally {
            lock.unlock();
        }
    }

    /** The run has ended with an arming, and found the inbox closed. No push will follow, so the link is free. */
    void handToCloser(TimerNode t) {
        lock.lock();
        try {
            if (takeBack(t)) {
                countUnfired();
                t.next = late;
                late = t;
            }
        } finally {
            lock.unlock();
        }
    }

    /** The last step: all queues are closed and all running timers have been looked at. */
    public void collectLate(List<? super TimerNode> collected) {
        lock.lock();
        try {
            while (late != null) { // QC-C7
                reserve(collected);
                TimerNode t = late;
                late = t.next;
                t.next = null;
                collected.add(t);
            }
        } finally {
            lock.unlock();
        }
    }
}
