package io.pendula.internal.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.function.BooleanSupplier;

/**
 * Lets threads wait for the firings of an alarm. It stands where other timers have their task. Only
 * a thread that waits ever blocks: a firing, a stop, a reset and a close change one word and wake the first waiter.
 */
public class Receiver implements Runnable {
    private final Waiters waiters = new Waiters();

    /**
     * The threads that wait, in the order in which they came; to acquire is to take the firing. A release wakes the
     * first of them, which looks; one that leaves without a firing, interrupted, too late or by an exception, wakes the
     * next.
     */
    private static final class Waiters extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;

        /** All threads that wait for one alarm ask the same. */
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
        waiters.release(0);
    }

    /**
     * Until {@code taken} says yes; false if {@code nanos} ran out before. What it throws ends the wait. Several threads
     * call it at the same time, and the one of any of them may answer for another, so all must ask the same.
     */
    public final boolean await(BooleanSupplier taken, long nanos) throws InterruptedException {
        waiters.taken = taken;
        if (!waiters.tryAcquireNanos(0, nanos)) {
            return false;
        }
        run(); // a firing that came before this thread left the queue may have woken it for the second time
        return true;
    }

    /** Of a repeating alarm: holds one tick for the next thread that waits. */
    public static final class Ticks extends Receiver {
        /** In the low bit of {@link #kept}: a tick is there to be received. */
        private static final long TICK = 1;

        /**
         * Above that bit: the deadline of the last tick that was kept, or of the first that the last stop or reset has
         * left, whichever is later. A tick that was due before belongs to the time before that stop or reset.
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

        /** After this no tick whose deadline lies before {@code deadline} can be received. */
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
