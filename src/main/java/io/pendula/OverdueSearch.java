package io.pendula;

import static io.pendula.TimerState.deadline;
import static io.pendula.TimerState.isArmed;
import static io.pendula.TimerState.state;

/** Searches queues for an armed timer whose deadline has passed. One search visits a bounded number of timers. */
final class OverdueSearch {
    /** Decides what happens to a queue where a timer is overdue. */
    interface Judge {
        /** Nothing happens. */
        int LEAVE = 0;
        /** What has arrived is filed, so that others see it. */
        int FILE = 1;
        /** As FILE, and the owner, which is woken afterwards, finds that it is up. */
        int TAKE_UP = 2;

        /** Asked under the queue's lock. */
        int judge(TimerQueue q, QueueOwner owner);
    }

    private int budget;
    private int visited;
    private boolean armed;

    /** A search that visits so many timers at most begins. */
    void begin(int visits) {
        budget = visits;
        armed = false;
    }

    /** How many timers all searches have visited. */
    int visited() {
        return visited;
    }

    /** Whether this search has met an armed timer, or has not seen all. */
    boolean isAnythingArmed() {
        return armed;
    }

    /** Goes on with this queue, unless another thread has its lock. */
    void search(TimerQueue q, long now, long before, Judge judge) {
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
            int verdict = judge.judge(q, q.gate.owner());
            if (verdict != Judge.LEAVE) {
                q.due.fileAndPeek(now);
            }
            if (verdict == Judge.TAKE_UP) {
                q.gate.setPollUntil(WakeGate.AWAKE);
            }
        } finally {
            q.lock.unlock();
        }
    }

    /** Notes as well whether anything is armed. */
    private boolean isOverdue(TimerQueue q, long before) {
        armed |= isAnyFiled(q);
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

    /** Whether there may be an armed timer. Racy: see Monitor. */
    static boolean mayBeArmed(TimerQueue q) {
        TimerNode head = q.inbox.head();
        return head != Inbox.CLOSED
                && (Inbox.isTimer(head) && head != q.overdue.settled || isAnyFiled(q) || q.intake.isTakenOut());
    }

    /** Whether an armed timer is filed, as far as is counted. */
    private static boolean isAnyFiled(TimerQueue q) {
        return !q.intake.immediate.isEmpty() || q.heap.size() > q.compactor.staleCounter.stale();
    }
}
