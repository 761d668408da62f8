package io.pendula.internal.queue;

import static io.pendula.internal.queue.StaleCounter.STALE;
import static io.pendula.internal.queue.StaleCounter.STOP;
import static io.pendula.internal.queue.TimerState.DELETED;
import static io.pendula.internal.queue.TimerState.MOVING;
import static io.pendula.internal.queue.TimerState.RUNNING_ARMED;
import static io.pendula.internal.queue.TimerState.isArmed;
import static io.pendula.internal.queue.TimerState.isCancelled;
import static io.pendula.internal.queue.TimerState.isFiled;
import static io.pendula.internal.queue.TimerState.isQueued;
import static io.pendula.internal.queue.TimerState.state;

import java.util.List;

/** The end of a queue: collects its armed timers as unfired, and settles with threads that arm or run at that moment. */
final class QueueCloser {
    /*
     * Closing
     *
     * A reset that has returned has armed the timer: that arming runs, is stopped or replaced, or is collected. A reset
     * that throws has changed nothing. The closing thread takes these steps, the first four in one hold of the lock:
     *
     *     C1  closed = true
     *     C2  inbox = CLOSED
     *     C3  shuts each timer in posts: collects it if it is armed, sets its deadline to 0, and says that it is placed
     *     C4  collects what was in the inbox, the lines and the heap
     *     C5  looks at what runs (collectRunning)
     *     C6  collects what is in late
     *
     * A reset reads the word (A1). If that is at rest or runs, or if the timer must be pushed, it enters posts (A2). It
     * reads closed (A3), is refused if that is true, and changes the word by a CAS (A4). Then it pushes, if it has to,
     * and leaves posts; if the push was refused, only once it has had the lock. All are volatile.
     *
     * 1. A reset whose A2 comes after C1 reads true at A3, and changes nothing. If its A2 comes before C1, there are
     *    three cases at C3. It has left posts: its push came before C2, so C4 will meet the timer; or the timer runs,
     *    and C5 will meet it. It is in posts, and A4 has come: C3 collects what it has armed. It is in posts, and A4 is
     *    still to come: that fails, since no word that was read before C3 is so. Deadlines are 1 or more, and a timer
     *    that was never armed is not placed. And a word stays so, as all its changes from then on leave both as they are.
     * 2. So after C3 no timer leaves rest, and no run is armed that was not. C3 and C4 leave no timer in the inbox, in a
     *    line or the heap. What is left is what a run had armed before. C5 meets it in its run, or when that has just
     *    ended: in a queued state, armed or stopped. Or the run has ended before C5 and found the inbox closed: then it
     *    has handed the arming to late, before C6. After C5 no such timer is in a queued state, so no reset arms it again.
     *    And a timer that was collected is at rest, or runs without an arming, so it is collected once.
     * 3. A reset that did not enter posts changes a word that says that the timer is queued, filed, or armed in its run.
     *    By 2 that is so until C3, C4 or C5 changes it, or the run's end does; and these collect what the reset has
     *    armed, since each takes the word as it is by a CAS. After that the reset's CAS fails.
     *
     * A new word is what makes 1 true, as a word may come back otherwise: a timer at rest that is armed for the same
     * instant as before, and collected, has the same word again. A reset that has read it before would then find what it
     * expects. C3 comes before C4 for the same reason: a timer that C4 has collected, and whose word is what a reset in
     * posts has read, would be armed once more, and be collected twice.
     *
     * If C3 or C4 fails for want of memory, a reset whose push is refused finds its timer still queued. It hands it to
     * late; or, if the timer is there already by another reset, it is refused.
     */

    private final PendingLimit limit;
    private final HoldLock lock;
    private final Inbox inbox;
    private final Intake intake;
    private final Entries entries;
    private final StaleCounter staleCounter;

    /** For good. Volatile: read by resets. */
    private volatile boolean closed;
    /** Under the lock, as all below: what runs and resets have handed over meanwhile. Linked, as that needs no memory. */
    private final NodeFifo late = new NodeFifo();
    private long unfired;

    QueueCloser(PendingLimit limit, HoldLock lock, Inbox inbox, Intake intake, Entries entries, StaleCounter staleCounter) {
        this.limit = limit;
        this.lock = lock;
        this.inbox = inbox;
        this.intake = intake;
        this.entries = entries;
        this.staleCounter = staleCounter;
    }

    boolean isClosed() {
        return closed;
    }

    /** How many timers were collected. */
    long unfired() {
        return unfired;
    }

    void takeFigures() {
        unfired = 0;
    }

    /**
     * Lock held. Takes every armed timer out that does not run: C1 to C4. The hold is as long as there are timers: the
     * threads that might wait for the lock have no more business here, and a reset that meets the close has to wait for
     * its end.
     * If it fails for want of memory, what it has not collected is still here, and the next call goes on.
     */
    void close(List<? super TimerNode> collected) {
        assert lock.isHeldByCurrentThread();
        closed = true;
        intake.gather(inbox.close());
        inbox.forEachPosted(t -> shut(t, collected));
        collectAll(intake.immediate, collected);
        collectAll(intake.backlog, collected);
        collectHeap(collected);
        entries.clear();
    }

    private void collectAll(NodeFifo line, List<? super TimerNode> collected) {
        while (!line.isEmpty()) {
            reserve(collected);
            collect(line.removeFirst(), true, collected);
        }
    }

    /** Entry by entry, so that what is left when memory runs out is counted right. */
    private void collectHeap(List<? super TimerNode> collected) {
        int stale = 0;
        try {
            for (int last = entries.size() - 1; last >= 0; last--) {
                if (!collect(entries.node(last), false, collected)) {
                    stale++;
                }
                entries.removeLast();
            }
        } finally {
            staleCounter.add(-stale * STALE); // not what the counter says: some of them may not be counted yet
        }
    }

    /** Makes room for one more before a word changes: a timer that was stopped and then not noted would be lost. */
    private static void reserve(List<? super TimerNode> collected) {
        collected.add(null);
        collected.remove(collected.size() - 1);
    }

    /** True if the timer had a live entry in the heap. */
    private boolean collect(TimerNode t, boolean fromInbox, List<? super TimerNode> collected) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            boolean armed = isArmed(s) && s != RUNNING_ARMED;
            boolean stoppedInInbox = fromInbox && isQueued(s);
            if (!armed && s != DELETED && !stoppedInInbox) {
                return false; // runs, or is at rest
            }
            if (armed) {
                reserve(collected);
            }
            if (t.tryCollect(w)) {
                if (armed) {
                    noteUnfired(t, collected);
                } else if (stoppedInInbox) {
                    intake.stops++;
                }
                return isFiled(s);
            }
        }
    }

    private void noteUnfired(TimerNode t, List<? super TimerNode> collected) {
        releasePermit();
        unfired++;
        collected.add(t);
    }

    /** C3. No reset that has read the word before succeeds from now on. */
    private void shut(TimerNode t, List<? super TimerNode> collected) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            if (isCancelled(s)) {
                return; // no reset succeeds anyway
            }
            if (isArmed(s)) {
                reserve(collected);
            }
            if (t.tryShut(w)) {
                if (isArmed(s)) {
                    noteUnfired(t, collected);
                } else if (isQueued(s)) {
                    staleCounter.add(STOP); // no drain counts it: it is at rest now
                }
                if (isFiled(s)) {
                    staleCounter.add(STALE); // until C4 drops the entry
                }
                return;
            }
        }
    }

    /** C5. Takes the next firing of a timer that runs, or whose run is just ending. */
    void collectRunning(TimerNode t, List<? super TimerNode> collected) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            boolean armed = s == RUNNING_ARMED || s == MOVING;
            if (!armed && !isQueued(s)) {
                return;
            }
            if (armed) {
                reserve(collected);
            }
            if (armed ? t.tryCollectRunning(w) : t.tryWithdraw(w)) {
                if (armed) {
                    lock.lock();
                    try {
                        noteUnfired(t, collected);
                    } finally {
                        lock.unlock();
                    }
                } else {
                    staleCounter.add(STOP);
                }
                return;
            }
        }
    }

    /** For a reset whose push was refused; true if it has changed nothing, and is refused itself. */
    boolean settle(TimerNode t, long before) {
        lock.lock();
        try {
            boolean refused = !closed || late.contains(t); // if open, memory is short: see GoneQueues.bringBack
            for (;;) {
                long w = t.wordVolatile();
                boolean armed = isArmed(state(w));
                if (!isQueued(state(w))) {
                    return false; // collected
                }
                if (armed && refused ? t.tryUndo(w, before) : t.tryWithdraw(w)) {
                    withdrawn(t, armed, armed && refused);
                    return armed && refused;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** The run has ended with an arming, and found the inbox closed. */
    void handToCloser(TimerNode t) {
        lock.lock();
        try {
            for (;;) {
                long w = t.wordVolatile();
                boolean armed = isArmed(state(w));
                if (!isQueued(state(w))) {
                    return; // collected
                }
                if (armed ? t.tryCollectRunning(w) : t.tryWithdraw(w)) {
                    withdrawn(t, armed, false);
                    return;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void withdrawn(TimerNode t, boolean armed, boolean undone) {
        if (!armed) {
            staleCounter.add(STOP);
            return;
        }
        releasePermit();
        if (!undone) {
            handOver(t);
        }
    }

    /** Its push was refused, and no other will follow, so its link is free. */
    private void handOver(TimerNode t) {
        unfired++;
        t.next = null;
        late.append(t);
    }

    /** C6, the last step: all queues are closed and all running timers have been looked at. */
    void collectLate(List<? super TimerNode> collected) {
        lock.lock();
        try {
            while (!late.isEmpty()) {
                reserve(collected);
                collected.add(late.removeFirst());
            }
        } finally {
            lock.unlock();
        }
    }

    private void releasePermit() {
        if (limit != null) {
            limit.release();
        }
    }
}
