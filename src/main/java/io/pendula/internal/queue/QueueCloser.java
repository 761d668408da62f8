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
     * If a reset has returned, the timer was armed: this arming runs, is stopped or replaced, or is collected. If a reset is
     * refused, it has armed nothing.
     *
     *     a reset that pushes, or arms a run          the closing thread
     *     QC-A1  adds itself to resetting             QC-C1  closed = true
     *     QC-A2  reads closed, is refused if true     QC-C2  waits until it has read 0 in resetting
     *     QC-A3  changes the word by a CAS            QC-C3  inbox = CLOSED
     *     QC-A4  pushes, unless the timer runs        QC-C4  collects the timers of inbox and backlog
     *     QC-A5  takes itself off resetting           QC-C5  collects the filed timers
     *                                                 QC-C6  checks the running timers
     *                                                 QC-C7  collects the timers in late
     *
     * All are volatile. QC-C3 to QC-C5 are one hold of the lock.
     *
     * 1. QC-A1 and QC-C1 are a handshake as in WakeGate. If QC-C2 has read 0 before QC-A1, then QC-A2 reads true, and
     *    nothing changes. If QC-A1 came first, QC-A5 did so, too, because the number was 0. So after QC-C2 no reset is
     *    between QC-A2 and QC-A5. A timer that a reset has armed is in the inbox, where QC-C4 finds it, or runs, where
     *    QC-C6 finds it.
     * 2. So after QC-C2 no reset arms a timer at rest, or arms a run. QC-C4 and QC-C5 leave no timer in the inbox, in
     *    the backlog or filed. Only timers armed in a run earlier remain. QC-C6 finds such a timer in its run. Or it
     *    finds it just after the run, in a queued state, armed or stopped. Or the run ended before QC-C6 and found the
     *    inbox closed. Then it has handed the arming to late, before QC-C7. After QC-C6 no such timer is in a queued
     *    state, so no reset arms it again. A collected timer is at rest, or runs without an arming, so it is collected
     *    once.
     * 3. A reset that takes no part in QC-A1 to QC-A5 finds the word in one of these states: queued, filed, DELETED
     *    (its entry is still there), or armed in a run. By 2 the word keeps such a state until QC-C4, QC-C5,
     *    QC-C6, a claim, a sweep or the run's end changes it. QC-C4, QC-C5 and QC-C6 collect the arming of the reset,
     *    because each replaces the current word by a CAS. A claim runs it. After that the reset's CAS fails.
     *
     * Between QC-A1 and QC-A5 a reset takes no lock, runs no user code and wakes no thread. So a closing thread never
     * waits for itself. A reset that begins after QC-C1 is refused before QC-A1. So QC-C2 normally takes no time. The
     * wait is limited to PATIENCE_NANOS. Without the limit the close could hang: a thread that runs out of stack may lack
     * the stack for QC-A5, even in a finally. The proof does not cover a reset that is suspended for longer, for instance
     * by a debugger. It finds the inbox closed at QC-A4, takes its arming back and is refused. But an arming that it
     * replaced, or an arming in a run, may be lost.
     */

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long LOOK_NANOS = 20_000;

    private final PendingLimit limit;
    private final HoldLock lock;
    private final Inbox inbox;
    private final InboxDrainer drainer;
    private final TimerHeap entries;
    private final Compactor compactor;

    /** Stays true. Volatile: resets read it. */
    volatile boolean closed;
    /** Only tests change it. */
    long patienceNanos = PATIENCE_NANOS;
    /** Under the lock, as unfired is. Timers handed over by ended runs. Linked, because that needs no memory. */
    private TimerNode late;
    /** The number of collected timers. */
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

    /** See PendingLimit.take. All parts of the queue call it here, because most programs never load that class. */
    void takePermit(int permits) {
        if (limit != null) {
            limit.take(permits);
        }
    }

    /** Called before a stop: otherwise a stack that overflows after it might keep the permit. */
    void ensureRelease() {
        if (limit != null) {
            HoldLock.checkStack();
        }
    }

    // ---- resets ----

    /**
     * Called if the timer could not be pushed after QC-A3. True if this call disarmed it, so that the caller must
     * release its permit. False if it was stopped or collected meanwhile.
     */
    boolean takeBack(TimerNode t) {
        return isArmed(take(t, true));
    }

    /**
     * Takes a timer out, and returns its old state. If it is armed in its run, only if {@code inRun}. NO_STATUS if it was
     * not taken out.
     */
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
     * Closes the queue. If it fails for lack of memory, the timers that it has not collected are still here, and the
     * next call continues. It holds the lock while it collects all timers, because no thread can do useful work on a
     * closed queue.
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
                    compactor.count(-STALE); // the counter is not set to 0: some stale entries may not be counted yet
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
        long begun = System.nanoTime();
        while (inbox.resetting != 0 && System.nanoTime() - begun < patienceNanos) { // QC-C2
            LockSupport.parkNanos(this, LOOK_NANOS);
        }
    }

    /** Makes room for one more timer before its word changes: a timer that is disarmed and not collected would be lost. */
    private static void reserve(List<? super TimerNode> collected) {
        collected.add(null);
        collected.remove(collected.size() - 1);
    }

    /** True for one entry of each filed timer. All its other entries were counted as stale. */
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

    /** Collects the next firing of a timer that runs, or whose run is just ending. */
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

    /** The last step, after all queues are closed and all running timers have been checked. */
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
