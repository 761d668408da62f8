package io.pendula;

import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.function.BooleanSupplier;

/**
 * Lets threads wait for the firings of a timer or a ticker without a task. It stands where others have their task. Only
 * a thread that waits ever blocks: a firing, a stop, a reset and a close change one word and wake the first waiter.
 */
class Receiver implements Runnable {
    private final Waiters waiters = new Waiters();

    /**
     * The threads that wait, in the order in which they came; to acquire is to take the firing. A release wakes the
     * first of them, which looks; one that leaves without a firing, interrupted, too late or by an exception, wakes the
     * next.
     */
    private static final class Waiters extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;

        /** All threads that wait for one timer ask the same. */
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
    final boolean await(BooleanSupplier taken, long nanos) throws InterruptedException {
        waiters.taken = taken;
        if (!waiters.tryAcquireNanos(0, nanos)) {
            return false;
        }
        run(); // a firing that came before this thread left the queue may have woken it for the second time
        return true;
    }
}
