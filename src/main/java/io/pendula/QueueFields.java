package io.pendula;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/*
 * The fields of a TimerQueue that threads without its lock touch, one group to a cache line (two, as processors fetch
 * neighbours), so that a producer's push does not slow a driver's look at its heap. The JVM may reorder the fields of
 * one class but lays a superclass out before its subclass; hence the chain.
 */

@SuppressWarnings("unused") // padding
abstract class PadBeforeInbox {
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;
}

/** Written by whoever arms. */
@SuppressWarnings("unused") // through VarHandles
abstract class InboxField extends PadBeforeInbox {
    TimerNode inbox;
    int depth;
    long arrivals = QueueFields.UNASKED;
}

@SuppressWarnings("unused") // padding
abstract class PadBeforePoll extends InboxField {
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;
}

/** Read by whoever arms, written when a driver goes to sleep or is woken. */
@SuppressWarnings("unused") // through VarHandles
abstract class PollField extends PadBeforePoll {
    long pollUntil = QueueFields.AWAKE;
}

@SuppressWarnings("unused") // padding
abstract class PadAfterPoll extends PollField {
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;
}

/** The shared fields of a {@link TimerQueue} behind accessors that are named for their memory mode. */
@SuppressWarnings("unused") // through VarHandles
abstract class QueueFields extends PadAfterPoll {
    /** What pollUntil says while nobody sleeps for the queue: below every deadline, so no arming wakes anybody. */
    static final long AWAKE = Long.MIN_VALUE;
    /** What arrivals says where nobody asks: below every deadline, so no arming notes anything. */
    static final long UNASKED = Long.MIN_VALUE;

    private static final VarHandle INBOX;
    private static final VarHandle DEPTH;
    private static final VarHandle ARRIVALS;
    private static final VarHandle POLL_UNTIL;
    private static final VarHandle NEXT_WHEN;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            INBOX = lookup.findVarHandle(InboxField.class, "inbox", TimerNode.class);
            DEPTH = lookup.findVarHandle(InboxField.class, "depth", int.class);
            ARRIVALS = lookup.findVarHandle(InboxField.class, "arrivals", long.class);
            POLL_UNTIL = lookup.findVarHandle(PollField.class, "pollUntil", long.class);
            NEXT_WHEN = lookup.findVarHandle(QueueFields.class, "nextWhen", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private long nextWhen = Timeline.NEVER;

    final TimerNode inboxVolatile() {
        return (TimerNode) INBOX.getVolatile(this);
    }

    final boolean casInbox(TimerNode expected, TimerNode node) {
        return INBOX.compareAndSet(this, expected, node);
    }

    final TimerNode swapInbox(TimerNode node) {
        return (TimerNode) INBOX.getAndSet(this, node);
    }

    /** Opaque: a hint of the inbox's length; lost increments only delay help a little. */
    final int depthOpaque() {
        return (int) DEPTH.getOpaque(this);
    }

    final void setDepthOpaque(int depth) {
        DEPTH.setOpaque(this, depth);
    }

    final long arrivalsVolatile() {
        return (long) ARRIVALS.getVolatile(this);
    }

    final void setArrivalsVolatile(long when) {
        ARRIVALS.setVolatile(this, when);
    }

    final boolean casArrivals(long expected, long when) {
        return ARRIVALS.compareAndSet(this, expected, when);
    }

    final long pollUntilVolatile() {
        return (long) POLL_UNTIL.getVolatile(this);
    }

    final void setPollUntilVolatile(long until) {
        POLL_UNTIL.setVolatile(this, until);
    }

    final boolean casPollUntil(long expected, long until) {
        return POLL_UNTIL.compareAndSet(this, expected, until);
    }

    /** Opaque: thieves and the monitor only take a hint from it. */
    final long nextWhenOpaque() {
        return (long) NEXT_WHEN.getOpaque(this);
    }

    final void setNextWhenOpaque(long when) {
        NEXT_WHEN.setOpaque(this, when);
    }
}
