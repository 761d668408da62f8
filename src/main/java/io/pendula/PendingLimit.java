package io.pendula;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/** The bound on armed timers that {@code maxPending} sets: one permit for as long as a timer is armed. */
final class PendingLimit {
    private final long max;
    private final AtomicLong held = new AtomicLong();
    /**
     * Permits that threads have given back who had no stack left for a call. Changed under this object's monitor, which
     * needs none; never lower than before.
     */
    volatile long returned;

    PendingLimit(long max) {
        this.max = max;
    }

    /** Takes a permit or throws; never above the bound, not even for a moment. */
    void acquire() {
        for (long n = held.get(); ; n = held.get()) {
            long taken = n - returned;
            if (taken >= max) {
                throw new RejectedExecutionException("maxPending reached: " + taken + " timers are armed");
            }
            if (held.compareAndSet(n, n + 1)) {
                return;
            }
        }
    }

    void release() {
        held.decrementAndGet();
    }

    long held() {
        return held.get() - returned;
    }
}
