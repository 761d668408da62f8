package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/** Written by all threads that arm. A separate class: otherwise the JVM could place the head behind the padding. */
abstract class InboxFields extends Padded {
    volatile TimerNode head;
    volatile int depth;
    /** The number of resets under way, see QueueCloser. Here, because nearly all of them push, and so write these fields. */
    volatile int resetting;
    volatile long arrivals = Timeline.NEVER;
}

/**
 * The armed timers that no drain has taken out yet: a stack. Any thread pushes, and a drain takes the whole stack. It has
 * its own cache lines, so that a push does not slow a worker that reads its heap.
 */
@SuppressWarnings("unused") // padding
final class Inbox extends InboxFields {
    /** At this depth the next arming thread helps to drain. Timers that are stopped before never enter the heap. */
    static final int HELP_DEPTH = 2048;

    /** The head once the queue is closed. */
    static final TimerNode CLOSED = new TimerNode(null);

    private static final AtomicReferenceFieldUpdater<InboxFields, TimerNode> HEAD =
            AtomicReferenceFieldUpdater.newUpdater(InboxFields.class, TimerNode.class, "head");
    private static final AtomicIntegerFieldUpdater<InboxFields> DEPTH =
            AtomicIntegerFieldUpdater.newUpdater(InboxFields.class, "depth");
    private static final AtomicIntegerFieldUpdater<InboxFields> RESETTING =
            AtomicIntegerFieldUpdater.newUpdater(InboxFields.class, "resetting");
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
            setDepth(depth); // before the CAS: an Error after it would report a pushed timer as refused
            if (HEAD.compareAndSet(this, h, t)) { // WG-W2
                return true;
            }
        }
    }

    /** The approximate number of pushes since the last drain. */
    int depth() {
        return depth;
    }

    void setDepth(int depth) {
        DEPTH.lazySet(this, depth); // a hint, needs no fence
    }

    /** Adds a reset to those under way (1), or takes it off (-1). */
    void countReset(int resets) {
        RESETTING.getAndAdd(this, resets);
    }

    /** The earliest deadline armed since the last drain; NEVER if none. */
    long arrivals() {
        return arrivals;
    }

    /** True if no timer had arrived since the last drain. */
    boolean lowerArrivals(long when) {
        for (long a = arrivals(); when < a; a = arrivals()) {
            if (ARRIVALS.compareAndSet(this, a, when)) { // WG-W3
                return a == Timeline.NEVER;
            }
        }
        return false;
    }

    // ---- under the queue's lock ----

    /** Sets arrivals to NEVER; false if it is no longer {@code expected}. */
    boolean clearArrivals(long expected) {
        return ARRIVALS.compareAndSet(this, expected, Timeline.NEVER);
    }

    /** Takes all timers. Returns the newest, linked to the others, or null. */
    TimerNode take() {
        if (!holdsTimers()) { // only a lock holder sets the head to null or CLOSED
            if (depth >= HELP_DEPTH) {
                setDepth(0); // it was raised while memory was short
            }
            return null;
        }
        setDepth(0);
        return HEAD.getAndSet(this, null);
    }

    /** Refuses timers from now on. Returns as take does. */
    TimerNode close() {
        TimerNode h = HEAD.getAndSet(this, CLOSED);
        return h == CLOSED ? null : h;
    }
}
