package io.pendula.internal.queue;

import static io.pendula.internal.queue.StaleCounter.STALE;
import static io.pendula.internal.queue.StaleCounter.STOP;
import static io.pendula.internal.queue.TimerState.DELETED;
import static io.pendula.internal.queue.TimerState.MOVING;
import static io.pendula.internal.queue.TimerState.RUNNING_ARMED;
import static io.pendula.internal.queue.TimerState.deadline;
import static io.pendula.internal.queue.TimerState.isArmed;
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
     *     C3  collects what is in the inbox, the lines and the heap
     *     C4  collects what is in posts
     *     C5  looks at what runs (collectRunning)
     *     C6  isTooLate = true, under the lock; what is in late is collected
     *
     * A reset reads the word (A1), enters posts if it will have to push (A2), reads closed (A3) and is refused if it is
     * true, changes the word by a CAS (A4), and pushes, or in a run reads closed again (A5). All are volatile, but for
     * A2, which A4 orders.
     *
     * 1. Once A4 of some reset comes after C1, no other reset of that timer succeeds: if its A1 comes after that A4,
     *    its A3 reads true; if it comes before, its CAS fails.
     * 2. A4 before C1, and the word says that the timer is in the inbox, a line or the heap: it is there, and C3 meets
     *    it; or its push is still to come. Then its pusher's A2 came before its A4, so before C1, and C4 meets it. Or
     *    the pusher is a run that is about to end: see 4. So what such a reset has armed is collected, and it has
     *    returned normally.
     * 3. A4 after C1. If the timer was where C3 or C4 finds it, they have changed the word, so A4 comes before that
     *    step, and the arming is collected. Else it was at rest, its push finds the inbox closed, and by 1 the arming in
     *    the word is the own one or has been stopped. This reset settles it under the lock: before C6 it is collected,
     *    after C6 undone and refused.
     * 4. In a run. A4 before C5: C5 meets the arming, in its run or when the run has just ended (MOVING); or the run
     *    ended before C5, and found the inbox closed: then it hands the arming to late, before C6. A4 after C5: by 1 it
     *    is the only one, and A5 reads true; the reset settles it as in 3. A run that ends after C6 with an arming
     *    leaves it to that reset. Settling leaves alone any arming with another deadline: then the own one has run
     *    meanwhile.
     */

    private final PendingLimit limit;
    private final HoldLock lock;
    private final Inbox inbox;
    private final Intake intake;
    private final TimerHeap heap;
    private final StaleCounter staleCounter;

    /** For good. Volatile: read by resets. */
    private volatile boolean closed;
    /** Under the lock, as all below: what runs and resets have handed over meanwhile. Linked, as that needs no memory. */
    private final NodeFifo late = new NodeFifo();
    /** What comes now is refused. */
    private boolean isTooLate;
    private long unfired;

    QueueCloser(PendingLimit limit, HoldLock lock, Inbox inbox, Intake intake, TimerHeap heap, StaleCounter staleCounter) {
        this.limit = limit;
        this.lock = lock;
        this.inbox = inbox;
        this.intake = intake;
        this.heap = heap;
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
        collectAll(intake.immediate, collected);
        collectAll(intake.backlog, collected);
        collectHeap(collected);
        inbox.forEachPosted(t -> collect(t, false, collected));
        heap.clear();
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
            for (int last = heap.size() - 1; last >= 0; last--) {
                if (!collect(heap.node(last), false, collected)) {
                    stale++;
                }
                heap.removeAt(last);
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
                return false; // runs, is at rest, or was stopped before its push, which will fail and settle that
            }
            if (armed) {
                reserve(collected);
            }
            if (t.tryCollect(w)) {
                if (armed) {
                    releasePermit();
                    unfired++;
                    collected.add(t);
                } else if (stoppedInInbox) {
                    intake.stops++;
                }
                return isFiled(s);
            }
        }
    }

    /** C5. Takes the next firing of a timer that runs, or whose run is just ending. */
    void collectRunning(TimerNode t, List<? super TimerNode> collected) {
        for (;;) {
            long w = t.wordVolatile();
            if (state(w) != RUNNING_ARMED && state(w) != MOVING) {
                return;
            }
            reserve(collected);
            if (t.tryCollectRunning(w)) {
                releasePermit();
                lock.lock();
                try {
                    unfired++;
                } finally {
                    lock.unlock();
                }
                collected.add(t);
                return;
            }
        }
    }

    /** For a reset that has armed the timer, and then found the queue closed; true if it is refused. */
    boolean settle(TimerNode t, long before, long when) {
        lock.lock();
        try {
            for (;;) {
                long w = t.wordVolatile();
                int s = state(w);
                boolean armed = isArmed(s);
                boolean notTaken = !closed; // memory is short: see GoneQueues.bringBack
                if (!isQueued(s) && s != RUNNING_ARMED || armed && deadline(w) != when && !notTaken) {
                    return false; // collected; or, in its run, stopped, or run meanwhile
                }
                boolean refused = armed && (isTooLate || notTaken);
                if (refused ? t.tryUndo(w, before) : t.tryWithdraw(w)) {
                    if (!armed) {
                        staleCounter.add(STOP);
                        return false;
                    }
                    releasePermit();
                    if (!refused) {
                        handOver(t);
                    }
                    return refused;
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
                int s = state(w);
                if (!isQueued(s) || s == MOVING && isTooLate) {
                    return; // collected; or armed by a reset that will settle it
                }
                boolean armed = s == MOVING;
                if (armed ? t.tryCollectRunning(w) : t.tryWithdraw(w)) {
                    if (armed) {
                        releasePermit();
                        handOver(t);
                    } else {
                        staleCounter.add(STOP);
                    }
                    return;
                }
            }
        } finally {
            lock.unlock();
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
            isTooLate = true;
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
