package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * One claimed firing, from the claim to the end of the callback. A worker uses a single one over and over; a firing
 * that is handed to an executor has one of its own.
 */
public abstract class Firing {
    private static final AtomicReferenceFieldUpdater<Firing, TimerNode> NODE =
            AtomicReferenceFieldUpdater.newUpdater(Firing.class, TimerNode.class, "node");

    private volatile TimerNode node;
    public Runnable task;
    public long deadline;
    public long claimedAt;
    /** Its timer's next run is due already: it is behind by a period or more. */
    public boolean isOwing;
    /** Its callback has called close(): the close() of another callback must not wait for this run. */
    public volatile boolean inClose;

    // Of the thread that looks for stalls. Here, as a map of them would need memory when that is short.
    /** Its count of steps, as the last look has found it; -1 before the first look. */
    private int seenCount = -1;
    /** When a look has found that count first. */
    private long seenAt;
    /** The stall at that count was reported. */
    private boolean isStallTold;

    /** The thread that runs it; null if none does, as while it waits in an executor. */
    public Thread runner() {
        return null;
    }

    /** The timer that runs, or null. To others a hint, unless they have held the lock under which it was written. */
    public final TimerNode node() {
        return node;
    }

    /** Under the lock of the queue that the node was claimed from. */
    public final void begin(TimerNode claimed, Runnable work, long when, long now) {
        task = work;
        deadline = when;
        claimedAt = now;
        NODE.lazySet(this, claimed); // without a fence: the lock publishes it
    }

    public final void end() {
        task = null;
        NODE.lazySet(this, null); // release: a thread that reads null sees all that the run's end did
    }

    public final long lateness() {
        return claimedAt - deadline;
    }

    // ---- looks for stalls: one thread ----

    public final void see(int count, long now) {
        if (seenCount != count) {
            seenCount = count;
            seenAt = now;
            isStallTold = false;
        }
    }

    /** For how long it has not got on, as far as was seen; from {@code from} on if that is later. */
    public final long age(long from, long now) {
        return now - Math.max(seenAt, from);
    }

    /** True once for each step that it does not get beyond. */
    public final boolean isStallNew() {
        boolean isNew = !isStallTold;
        isStallTold = true;
        return isNew;
    }
}
