package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/** Written by all threads that arm. A class of its own, as the JVM would lay the head out behind the padding. */
abstract class InboxFields extends Padded {
    volatile TimerNode head;
    volatile int depth;
    volatile long arrivals = Timeline.NEVER;
}

/**
 * The timers that were armed and that no drain has taken out yet: a stack to which any thread pushes, and which a drain
 * takes as a whole. On cache lines of its own, so that a push does not slow the worker's look at its heap.
 */
@SuppressWarnings("unused") // padding
final class Inbox extends InboxFields {
    /** An inbox this long makes the next arming thread help to drain it. Timers stopped before never enter the heap. */
    static final int HELP_DEPTH = 2048;

    /** The head, for good, once the queue is closed. */
    static final TimerNode CLOSED = new TimerNode(null);

    private static final AtomicReferenceFieldUpdater<InboxFields, TimerNode> HEAD =
            AtomicReferenceFieldUpdater.newUpdater(InboxFields.class, TimerNode.class, "head");
    private static final AtomicIntegerFieldUpdater<InboxFields> DEPTH =
            AtomicIntegerFieldUpdater.newUpdater(InboxFields.class, "depth");
    private static final AtomicLongFieldUpdater<InboxFields> ARRIVALS =
            AtomicLongFieldUpdater.newUpdater(InboxFields.class, "arrivals");

    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;

    // ---- any thread ----

    TimerNode head() {
        return head;
    }

    boolean holdsTimers() {
        TimerNode h = head;
        return h != null && h != CLOSED;
    }

    /** False if the queue is closed. */
    boolean push(TimerNode t) {
        int depth = depth() + 1;
        for (;;) {
            TimerNode h = head();
            if (h == CLOSED) {
                t.next = null; // an earlier attempt may have set it
                return false;
            }
            t.next = h; // plain: published by the CAS
            setDepth(depth); // before the CAS: what is in the inbox must not be told to be refused by an Error
            if (HEAD.compareAndSet(this, h, t)) { // WG-W2
                return true;
            }
        }
    }

    /** How many were pushed since the last drain, about. */
    int depth() {
        return depth;
    }

    void setDepth(int depth) {
        DEPTH.lazySet(this, depth); // a hint, so it needs no fence
    }

    /** The earliest deadline that was armed since the last drain; NEVER if none was. */
    long arrivals() {
        return arrivals;
    }

    /** True if nothing had arrived since the last drain. */
    boolean lowerArrivals(long when) {
        for (long a = arrivals(); when < a; a = arrivals()) {
            if (ARRIVALS.compareAndSet(this, a, when)) { // WG-W3
                return a == Timeline.NEVER;
            }
        }
        return false;
    }

    // ---- under the queue's lock ----

    /** Nothing has arrived since the last drain; false if arrivals has left {@code expected}. */
    boolean clearArrivals(long expected) {
        return ARRIVALS.compareAndSet(this, expected, Timeline.NEVER);
    }

    /** The newest of the timers that were here, linked to the others; or null. */
    TimerNode take() {
        if (!holdsTimers()) { // what else the head may be comes only under this lock
            if (depth >= HELP_DEPTH) {
                setDepth(0); // raised while memory was short
            }
            return null;
        }
        setDepth(0);
        return HEAD.getAndSet(this, null);
    }

    /** Takes no more timers; those that were here, or null. */
    TimerNode close() {
        TimerNode h = HEAD.getAndSet(this, CLOSED);
        return h == CLOSED ? null : h;
    }
}
