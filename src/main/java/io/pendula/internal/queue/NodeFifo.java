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

    /** The oldest one, or null. */
    TimerNode first() {
        return first;
    }

    void append(TimerNode t) {
        t.next = null;
        if (first == null) {
            first = t;
        } else {
            last.next = t;
        }
        last = t;
        size++;
    }

    /** In front of all others. */
    void prepend(TimerNode t) {
        t.next = first;
        first = t;
        if (last == null) {
            last = t;
        }
        size++;
    }

    /** Takes over all that the other one has; the younger ones, if there are any here. */
    void appendAll(NodeFifo other) {
        if (other.first != null) {
            if (first == null) {
                first = other.first;
            } else {
                last.next = other.first;
            }
            last = other.last;
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
}
