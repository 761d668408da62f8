package io.pendula.internal.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One claimed firing, from the claim to the end of the callback. A worker uses a single one over and over; a firing
 * that is handed to an executor has one of its own.
 */
public abstract class Firing {
    private static final VarHandle NODE;

    static {
        try {
            NODE = MethodHandles.lookup().findVarHandle(Firing.class, "node", TimerNode.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // through NODE
    private TimerNode node;
    public Runnable task;
    public long deadline;
    public long claimedAt;
    /** Its callback has called close(): the close() of another callback must not wait for this run. */
    public volatile boolean inClose;

    /** The thread that runs it; null if none does, as while it waits in an executor. */
    public Thread runner() {
        return null;
    }

    /** The timer that runs, or null; a hint. */
    public final TimerNode nodeOpaque() {
        return (TimerNode) NODE.getOpaque(this);
    }

    /**
     * The same for a shutdown, which has held the lock under which it was written. Acquire: pairs with end(), so if
     * this run has ended, all that its end did is seen.
     */
    public final TimerNode nodeAcquire() {
        return (TimerNode) NODE.getAcquire(this);
    }

    /** Under the lock of the queue that the node was claimed from. */
    public final void begin(TimerNode claimed, Runnable work, long when, long now) {
        task = work;
        deadline = when;
        claimedAt = now;
        NODE.setOpaque(this, claimed);
    }

    public final void end() {
        task = null;
        NODE.setRelease(this, null); // pairs with nodeAcquire
    }

    public final long lateness() {
        return claimedAt - deadline;
    }
}
