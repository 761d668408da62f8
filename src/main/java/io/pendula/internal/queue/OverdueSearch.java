package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerState.deadline;
import static io.pendula.internal.queue.TimerState.isArmed;
import static io.pendula.internal.queue.TimerState.state;

/** Searches queues for an armed timer whose deadline has passed. One search visits a bounded number of timers. */
public abstract class OverdueSearch {
    /** Verdicts of {@link #judge}: nothing happens; */
    protected static final int LEAVE = 0;
    /** what has arrived is filed, so that others see it; */
    protected static final int FILE = 1;
    /** as FILE, and the owner, which is woken afterwards, finds that it is up. */
    protected static final int TAKE_UP = 2;

    private int budget;
    private int visited;
    private boolean armed;

    /** A search that visits so many timers at most begins. */
    public final void begin(int visits) {
        budget = visits;
        armed = false;
    }

    /** How many timers all searches have visited. */
    public final int visited() {
        return visited;
    }

    /** Whether this search has met an armed timer, or has not seen all. */
    public final boolean isAnythingArmed() {
        return armed;
    }

    /** Decides, under the queue's lock, what happens to a queue where a timer is overdue. */
    protected abstract int judge(TimerQueue q, QueueOwner owner);

    /** Goes on with this queue, unless another thread has its lock. */
    public final void search(TimerQueue q, long now, long before) {
        if (budget <= 0 || !q.lock.tryLock()) {
            armed = true; // for all that is known
            return;
        }
        try {
            budget--;
            visited++;
            if (q.isClosed() || !isOverdue(q, before)) {
                q.overdue.sleeper = null;
                return;
            }
            int verdict = judge(q, q.gate.owner());
            if (verdict != LEAVE) {
                q.due.fileAndPeek(now);
            }
            if (verdict == TAKE_UP) {
                q.gate.setPollUntil(WakeGate.AWAKE);
            }
        } finally {
            q.lock.unlock();
        }
    }

    /** Notes as well whether anything is armed. */
    private boolean isOverdue(TimerQueue q, long before) {
        armed |= q.ownership.isAnyFiled();
        return q.due.earliest() < before | isOverdueAmong(q.intake.firstTakenOut(), before) | isOverdueInInbox(q, before);
    }

    private boolean isOverdueAmong(TimerNode first, long before) {
        for (TimerNode t = first; t != null && budget > 0; t = Inbox.next(t)) {
            if (isOverdue(t, before)) {
                return true;
            }
        }
        armed |= first != null; // perhaps behind those that were visited
        return false;
    }

    private boolean isOverdueInInbox(TimerQueue q, long before) {
        OverdueNote note = q.overdue;
        TimerNode head = q.inbox.head();
        if (note.from == null) {
            note.head = head;
            note.anyArmed = false;
        }
        TimerNode t = note.from == null ? head : note.from;
        boolean armedBefore = armed;
        armed = false;
        for (; t != null && budget > 0; t = Inbox.next(t)) {
            if (isOverdue(t, before)) {
                return true; // the second look begins at the same place
            }
        }
        note.anyArmed |= armed;
        note.from = t;
        if (t == null) {
            note.settled = note.anyArmed ? null : note.head;
        }
        armed = armedBefore | note.anyArmed | t != null | head != note.head;
        return false;
    }

    private boolean isOverdue(TimerNode t, long before) {
        budget--;
        visited++;
        long w = t.wordVolatile();
        boolean live = isArmed(state(w));
        armed |= live;
        return live && deadline(w) < before;
    }
}
