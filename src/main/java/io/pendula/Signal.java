package io.pendula;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** Where those wait who have a timer or a ticker without a task. It stands where others have their task. */
class Signal implements Runnable {
    final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** Makes all who wait look again. */
    @Override
    public void run() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Until {@code taken} says yes, asked under the lock; false if {@code nanos} ran out before. */
    final boolean await(BooleanSupplier taken, long nanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            for (long left = nanos; !taken.getAsBoolean(); ) {
                if (left <= 0) {
                    return false;
                }
                left = changed.awaitNanos(left);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The signal of a ticker: holds one tick for the next receiver. */
    static final class Ticks extends Signal {
        private boolean buffered;
        private long dropped;
        /** Ticks with an earlier deadline belong to a time before the last stop or reset. */
        private long notBefore;

        void tick(long deadline) {
            lock.lock();
            try {
                if (deadline >= notBefore) {
                    if (buffered) {
                        dropped++;
                    }
                    buffered = true;
                    run();
                }
            } finally {
                lock.unlock();
            }
        }

        /** After this no tick whose deadline lies before {@code deadline} can be received. */
        void discardBefore(long deadline) {
            lock.lock();
            try {
                notBefore = deadline;
                buffered = false;
            } finally {
                lock.unlock();
            }
        }

        /** Lock held. */
        boolean take() {
            boolean was = buffered;
            buffered = false;
            return was;
        }

        long dropped() {
            lock.lock();
            try {
                return dropped;
            } finally {
                lock.unlock();
            }
        }
    }
}
