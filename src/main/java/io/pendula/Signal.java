package io.pendula;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.function.BooleanSupplier;

/**
 * Lets threads wait for the firings of a timer or a ticker without a task. It stands where others have their task. Only
 * a thread that waits ever blocks: a firing, a stop, a reset and a close change one word and wake the first waiter.
 */
class Signal implements Runnable {
    private final Receivers receivers = new Receivers();

    /**
     * The threads that wait, in the order in which they came; to acquire is to take the firing. A release wakes the
     * first of them, which looks; one that leaves without a firing, interrupted, too late or by an exception, wakes the
     * next.
     */
    private static final class Receivers extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;

        /** All threads that wait for one signal ask the same. */
        private transient volatile BooleanSupplier taken;

        @Override
        protected boolean tryAcquire(int unused) {
            return taken.getAsBoolean();
        }

        @Override
        protected boolean tryRelease(int unused) {
            return true;
        }
    }

    /** Something has changed: the first thread that waits looks, and all do if each finds that it waits in vain. */
    @Override
    public void run() {
        receivers.release(0);
    }

    /**
     * Until {@code taken} says yes; false if {@code nanos} ran out before. What it throws ends the wait. Several threads
     * call it at the same time, and the one of any of them may answer for another, so all must ask the same.
     */
    final boolean await(BooleanSupplier taken, long nanos) throws InterruptedException {
        receivers.taken = taken;
        if (!receivers.tryAcquireNanos(0, nanos)) {
            return false;
        }
        run(); // a firing that came before this thread left the queue may have woken it for the second time
        return true;
    }

    /** The signal of a ticker: holds one tick for the next receiver. */
    static final class Ticks extends Signal {
        private static final VarHandle KEPT;
        private static final VarHandle DROPPED;

        static {
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                KEPT = lookup.findVarHandle(Ticks.class, "kept", long.class);
                DROPPED = lookup.findVarHandle(Ticks.class, "dropped", long.class);
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
}
