package io.pendula.internal.queue;

import java.util.function.Consumer;

/** Timers in a row, first in first out, linked through {@link TimerNode#next}. Single-threaded; its owner locks. */
final class NodeFifo {
    private TimerNode first;
    private TimerNode last;
    private int size;
    private long removed;

    boolean isEmpty() {
        return first == null;
    }

    int size() {
        return size;
    }

    /** How many were ever taken out. */
    long removed() {
        return removed;
    }

    /** The oldest one; there must be one. */
    TimerNode first() {
        return first;
    }

    TimerNode firstOrNull() {
        return first;
    }

    /** The newest one; there must be one. */
    TimerNode last() {
        return last;
    }

    void append(TimerNode t) {
        if (first == null) {
            first = t;
        } else {
            last.next = t;
        }
        last = t;
        size++;
    }

    /** Appends timers that are linked already. */
    void append(TimerNode oldest, TimerNode newest, int count) {
        if (first == null) {
            first = oldest;
        } else {
            last.next = oldest;
        }
        last = newest;
        size += count;
    }

    /** Takes over all that the other one has; the younger ones, if there are any here. */
    void appendAll(NodeFifo other) {
        if (other.first != null) {
            append(other.first, other.last, other.size);
            other.forget();
        }
    }

    /** Takes over all that the other one has, in front of what is here. */
    void prependAll(NodeFifo other) {
        if (other.first != null) {
            other.last.next = first;
            first = other.first;
            if (last == null) {
                last = other.last;
            }
            size += other.size;
            other.forget();
        }
    }

    private void forget() {
        removed += size;
        first = null;
        last = null;
        size = 0;
    }

    /** Nulls the link before the timer's word changes: from then on a reset may push it again. */
    TimerNode removeFirst() {
        TimerNode t = first;
        first = Inbox.next(t);
        if (first == null) {
            last = null;
        }
        t.next = null;
        size--;
        removed++;
        return t;
    }

    boolean contains(TimerNode sought) {
        for (TimerNode t = first; t != null; t = Inbox.next(t)) {
            if (t == sought) {
                return true;
            }
        }
        return false;
    }

    void forEach(Consumer<TimerNode> look) {
        for (TimerNode t = first; t != null; t = Inbox.next(t)) {
            look.accept(t);
        }
    }
}
