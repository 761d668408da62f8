package io.pendula;

import java.util.function.Consumer;

/** Timers in a row, first in first out, linked through {@link TimerNode#next}. Single-threaded; its owner locks. */
final class Backlog {
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

    /** Appends what was taken from an inbox, which is a stack. */
    void appendReversed(TimerNode newest) {
        TimerNode oldest = null;
        for (TimerNode t = newest; t != null; ) {
            TimerNode next = t.next;
            t.next = oldest;
            oldest = t;
            t = next;
            size++;
        }
        if (first == null) {
            first = oldest;
        } else {
            last.next = oldest;
        }
        last = newest;
    }

    /** Takes over all that the other one has; the younger ones, if there are any here. */
    void appendAll(Backlog other) {
        if (other.first == null) {
            return;
        }
        if (first == null) {
            first = other.first;
        } else {
            last.next = other.first;
        }
        last = other.last;
        size += other.size;
        other.removed += other.size;
        other.first = null;
        other.last = null;
        other.size = 0;
    }

    /** Nulls the link before the timer's word changes: from then on a reset may push it again. */
    TimerNode removeFirst() {
        TimerNode t = first;
        first = t.next;
        if (first == null) {
            last = null;
        }
        t.next = null;
        size--;
        removed++;
        return t;
    }

    void forEach(Consumer<TimerNode> look) {
        for (TimerNode t = first; t != null; t = t.next) {
            look.accept(t);
        }
    }

    /** How many of them are armed. */
    long armed() {
        long n = 0;
        for (TimerNode t = first; t != null; t = t.next) {
            if (TimerNode.isArmed(TimerNode.state(t.wordVolatile()))) {
                n++;
            }
        }
        return n;
    }
}
