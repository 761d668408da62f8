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
    volatile boolean sleepsLong;
    /*
     * An Error has struck a thread while it armed a timer, as it had no stack left. It may have moved pollUntil to AWAKE
     * and not woken the keeper: the next thread that arms does so. It may have changed a word and not pushed the timer,
     * or not lowered arrivals: the next drain sees to that. A store to a field is all that such a thread can do, so it
     * sets both, whatever is missing.
     */
    volatile boolean wakeFailed;
    volatile boolean pushFailed;
}

@SuppressWarnings("unused") // padding
abstract class PadAfterPoll extends PollField {
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;
}

/**
 * Written and read by the lock holder alone (nextWhen is read by thieves), with nearly each claim, drain or sweep. What
 * follows, in TimerQueue, is written seldom and read by all.
 */
@SuppressWarnings("unused") // through a VarHandle
abstract class HolderFields extends PadAfterPoll {
    long nextWhen = Timeline.NEVER;

    /** While something is taken out of the line. */
    boolean lineClosed;
    /** How often the inbox was taken, and how often when that which was filed last was taken. */
    long taken;
    long settled;
    /** With a manual clock, for the next placed timer that is filed, so that filing cannot run out of memory. */
    Place sparePlace;

    /** Where the sweep has got to; slots above have been looked at. */
    int hand;
    int unswept;
    /** A sweep elects one of several entries that may be the live one of their timer. */
    boolean thorough;
    /** The last pass has dropped too few entries, so the next one is to be thorough. */
    boolean fellShort;
    /** Slots that sweeps have visited since they last dropped an entry. */
    int visitedInVain;
    /** When to sweep though few entries are dead, so that no stopped timer stays for long; or NEVER. */
    long lateSweepAt = Timeline.NEVER;
    /** A sweep for that reason is under way since then, or 0. */
    long lateSweepBegan;
    /** When the keeper last planned a late sweep. */
    long plannedAt;
    /** How many stopped timers drains had dropped when the keeper last published a sleep. */
    long stopsAtPublication;

    /** Where its loop's visit began: the next number of the heap, the end of those in line. */
    int visitSeq;
    long visitLine;

    long fired;
    long stolen;
    long stops;
    long swept;
    long helps;
    long unfired;
    long maxLateness;
}

@SuppressWarnings("unused") // padding
abstract class PadAfterHolder extends HolderFields {
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;
}

/** The shared fields of a {@link TimerQueue} behind accessors that are named for their memory mode. */
@SuppressWarnings("unused") // through VarHandles
abstract class QueueFields extends PadAfterHolder {
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
            NEXT_WHEN = lookup.findVarHandle(HolderFields.class, "nextWhen", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

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
