package io.pendula.internal.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.function.BooleanSupplier;

/**
 * Lets threads wait for the firings of an alarm. Takes the place of a task. Only the waiting threads ever block: a firing, a
 * stop, a reset and a close change one word and wake the first of them.
 */
public class Receiver implements Runnable {
    private final Waiters waiters = new Waiters();

    /**
     * The waiting threads, first come, first served. To acquire is to take the firing. A release wakes the first thread,
     * which checks. A thread that leaves without a firing (interrupted, timed out or by an exception) wakes the next.
     */
    private static final class Waiters extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;

        /** The same for all threads that wait for one alarm. */
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

    /** Called after a change: the first waiting thread checks; if it leaves, the next one does. */
    @Override
    public void run() {
        waiters.release(0);
    }

    /**
     * Waits until {@code taken} returns true; false after {@code nanos}. An exception of it ends the wait. If several
     * threads wait, the supplier of one may be used for another, so all must be equivalent.
     */
    public final boolean await(BooleanSupplier taken, long nanos) throws InterruptedException {
        waiters.taken = taken;
        if (!waiters.tryAcquireNanos(0, nanos)) {
            return false;
        }
        run(); // a firing that came before this thread left the queue may have woken it a second time
        return true;
    }

    /** For a repeating alarm: holds one tick for the next thread that waits. */
    public static final class Ticks extends Receiver {
        /** The low bit of {@link #kept}: a tick can be received. */
        private static final long TICK = 1;

        /**
         * The other bits: the deadline of the last tick that was kept, or the first deadline after the last stop or reset,
         * whichever is later. A tick with an earlier deadline precedes that stop or reset.
         */
        private final AtomicLong kept = new AtomicLong();
        /** Ticks that no thread receives. */
        public final AtomicLong dropped = new AtomicLong();

        public void tick(long deadline) {
            for (long k = kept.get(); deadline >= k >>> 1 && (k & TICK) == 0; k = kept.get()) {
                if (kept.compareAndSet(k, deadline << 1 | TICK)) {
                    run();
                    return;
                }
            }
            dropped.incrementAndGet();
        }

        /** From now on no tick with a deadline before {@code deadline} can be received. */
        public void discardBefore(long deadline) {
            long before = kept.getAndUpdate(k -> deadline > k >>> 1 ? deadline << 1 : k);
            if (deadline > before >>> 1 && (before & TICK) != 0) {
                dropped.incrementAndGet();
            }
        }

        /** The same for the tick that is kept now. */
        public void discardKept() {
            if (take()) {
                dropped.incrementAndGet();
            }
        }

        public boolean take() {
            return (kept.getAndUpdate(k -> k & ~TICK) & TICK) != 0;
        }
    }
}
