package io.pendula;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Lets threads wait for the ticks of a ticker without a task: holds one tick for the next thread that waits. */
final class TickReceiver extends Receiver {
    private static final VarHandle KEPT;
    private static final VarHandle DROPPED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            KEPT = lookup.findVarHandle(TickReceiver.class, "kept", long.class);
            DROPPED = lookup.findVarHandle(TickReceiver.class, "dropped", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** In the low bit of {@link #kept}: a tick is there to be received. */
    private static final long TICK = 1;

    /** Above that bit: ticks with an earlier deadline belong to a time before the last stop or reset. */
    private volatile long kept;
    /** Written by the one thread that runs the tick. */
    private long dropped;

    void tick(long deadline) {
        for (long k = kept; deadline >= k >>> 1; k = kept) {
            if ((k & TICK) != 0) {
                DROPPED.setOpaque(this, dropped + 1); // plain read: run k happens-before run k + 1
                return;
            }
            if (KEPT.compareAndSet(this, k, k | TICK)) {
                run();
                return;
            }
        }
    }

    /** After this no tick whose deadline lies before {@code deadline} can be received. */
    void discardBefore(long deadline) {
        for (long k = kept; !KEPT.compareAndSet(this, k, Math.max(k & ~TICK, deadline << 1)); k = kept) {
            Thread.onSpinWait();
        }
    }

    boolean take() {
        for (long k = kept; (k & TICK) != 0; k = kept) {
            if (KEPT.compareAndSet(this, k, k & ~TICK)) {
                return true;
            }
        }
        return false;
    }

    long dropped() {
        return (long) DROPPED.getOpaque(this);
    }
}
