package io.pendula;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One claimed firing, from the claim to the end of the callback. A worker uses a single one over and over; a firing
 * that is handed to an executor has one of its own.
 */
abstract class Firing {
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
    Runnable task;
    long deadline;
    long claimedAt;
    /** Its callback is inside close(): another close() must not wait for this run. */
    volatile boolean inClose;

    /** The thread that runs it, or null while it waits in an executor. */
    abstract Thread runner();

    /** The timer that runs, or null; a hint. */
    final TimerNode nodeOpaque() {
        return (TimerNode) NODE.getOpaque(this);
    }

    /**
     * The same for a shutdown, which has held the lock under which it was written. Acquire: pairs with end(), so if
     * this run has ended, all that its end did is seen.
     */
    final TimerNode nodeAcquire() {
        return (TimerNode) NODE.getAcquire(this);
    }

    /** Under the lock of the queue that the node was claimed from. */
    final void begin(TimerNode claimed, Runnable work, long when, long now) {
        task = work;
        deadline = when;
        claimedAt = now;
        NODE.setOpaque(this, claimed);
    }

    final void end() {
        task = null;
        NODE.setRelease(this, null); // pairs with nodeAcquire
    }

    final long lateness() {
        return claimedAt - deadline;
    }
}
