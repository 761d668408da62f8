package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * One claimed firing, from the claim to the end of the callback. A worker reuses one object. A firing that is handed to an
 * executor has its own.
 */
public abstract class Firing {
    private static final AtomicReferenceFieldUpdater<Firing, TimerNode> NODE =
            AtomicReferenceFieldUpdater.newUpdater(Firing.class, TimerNode.class, "node");

    private volatile TimerNode node;
    public Runnable task;
    public long deadline;
    public long claimedAt;
    /** The timer's next run is already due, so it is at least a period late. */
    public boolean isOwing;
    /** Its callback has called close(). The close() of another callback must not wait for this run. */
    public volatile boolean inClose;

    // Used by the thread that detects stalls. Fields, because a map would allocate when memory is short.
    /** The count of steps at the last check; -1 before the first check. */
    private int seenCount = -1;
    /** When that count was first seen. */
    private long seenAt;
    /** The stall at that count was reported. */
    private boolean isStallTold;

    /** The thread that runs it; null if none does, for instance while it waits in an executor. */
    public Thread runner() {
        return null;
    }

    /** The running timer, or null. A hint for other threads, unless they have held the lock since it was written. */
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
        NODE.lazySet(this, null); // release: a thread that reads null sees all effects of the run's end
    }

    public final long lateness() {
        return claimedAt - deadline;
    }

    // ---- stall detection: one thread ----

    public final void see(int count, long now) {
        if (seenCount != count) {
            seenCount = count;
            seenAt = now;
            isStallTold = false;
        }
    }

    /** How long the current step has lasted since it was first seen, or since {@code from} if that is later. */
    public final long age(long from, long now) {
        return now - Math.max(seenAt, from);
    }

    /** True at the first call for each step. */
    public final boolean isStallNew() {
        boolean isNew = !isStallTold;
        isStallTold = true;
        return isNew;
    }
}
