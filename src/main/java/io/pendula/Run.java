package io.pendula;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One claimed firing, from the claim to the end of the callback. A driver uses a single one over and over; a firing
 * that is handed to an executor has one of its own.
 */
abstract class Run {
    private static final VarHandle NODE;

    static {
        try {
            NODE = MethodHandles.lookup().findVarHandle(Run.class, "node", TimerNode.class);
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

    /**
     * The timer that runs, or null. Opaque: a shutdown reads it after it has held the lock under which it was
     * written; all others only take a hint.
     */
    final TimerNode nodeOpaque() {
        return (TimerNode) NODE.getOpaque(this);
    }

    /** Under the lock of the queue that the node was claimed from. */
    final void begin(TimerNode claimed, Runnable work, long when, long now) {
        task = work;
        deadline = when;
        claimedAt = now;
        NODE.setOpaque(this, claimed);
    }

    final void end() {
        NODE.setOpaque(this, null);
        task = null;
    }

    final long lateness() {
        return claimedAt - deadline;
    }
}
