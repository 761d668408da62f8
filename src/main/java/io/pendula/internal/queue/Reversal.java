package io.pendula.internal.queue;

/**
 * What was taken from an inbox. That is a stack, so the chain is turned round, newest first, and is complete only when
 * its oldest timer has been reached. It may be as long as you like; hence it is turned in slices. Single-threaded; its
 * owner locks.
 */
final class Reversal {
    /** Not turned yet. */
    private TimerNode rest;
    /** The oldest one that is turned; the others follow it. */
    private TimerNode oldest;
    private TimerNode newest;
    private int size;

    boolean isEmpty() {
        return newest == null;
    }

    /** The first of one of its parts, or null if there is none. */
    TimerNode any() {
        return rest != null ? rest : oldest;
    }

    /** Whether all of it is turned. */
    boolean isComplete() {
        return rest == null;
    }

    /** Takes over a chain; there must be none. */
    void begin(TimerNode head) {
        newest = head;
        rest = head;
        oldest = null;
        size = 0;
    }

    /** Whether it is one timer, not turned yet. */
    boolean isSingle() {
        return rest != null && rest == newest && rest.next == Inbox.END;
    }

    /** Takes the only timer out. */
    TimerNode takeSingle() {
        TimerNode t = rest;
        rest = null;
        newest = null;
        t.next = null;
        return t;
    }

    /** Turns so many timers at most; returns how many it turned. */
    int turn(int max) {
        int n = 0;
        TimerNode t = rest;
        for (; t != null && n < max; n++) {
            TimerNode next = Inbox.next(t);
            t.next = oldest;
            oldest = t;
            t = next;
        }
        rest = t;
        size += n;
        return n;
    }

    /** Hands a complete chain over. */
    void appendTo(NodeFifo line) {
        if (newest != null) {
            line.append(oldest, newest, size);
            oldest = null;
            newest = null;
        }
    }
}
