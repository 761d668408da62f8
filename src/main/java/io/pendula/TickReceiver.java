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

    /**
     * Above that bit: the deadline of the last tick that was kept, or of the first that the last stop or reset has left,
     * whichever is later. A tick that was due before belongs to the time before that stop or reset.
     */
    private volatile long kept;
    /** Ticks that no thread receives. */
    @SuppressWarnings("unused") // through DROPPED
    private volatile long dropped;

    void tick(long deadline) {
        for (long k = kept; deadline >= k >>> 1 && (k & TICK) == 0; k = kept) {
            if (KEPT.compareAndSet(this, k, deadline << 1 | TICK)) {
                run();
                return;
            }
        }
        DROPPED.getAndAdd(this, 1L);
    }

    /** After this no tick whose deadline lies before {@code deadline} can be received. */
    void discardBefore(long deadline) {
        for (long k = kept; deadline > k >>> 1; k = kept) {
            if (KEPT.compareAndSet(this, k, deadline << 1)) {
                if ((k & TICK) != 0) {
                    DROPPED.getAndAdd(this, 1L);
                }
                return;
            }
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
        return dropped;
    }
}
