package io.pendula;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/** The bound on armed timers that {@code maxPending} sets: one permit for as long as a timer is armed. */
final class PendingLimit {
    private final long max;
    private final AtomicLong held = new AtomicLong();

    PendingLimit(long max) {
        this.max = max;
    }

    /** Takes a permit or throws; never above the bound, not even for a moment. Null: there is no bound. */
    static void acquire(PendingLimit limit) {
        if (limit != null) {
            limit.acquire();
        }
    }

    static void release(PendingLimit limit) {
        if (limit != null) {
            limit.held.decrementAndGet();
        }
    }

    private void acquire() {
        for (long n = held.get(); ; n = held.get()) {
            if (n >= max) {
                throw new RejectedExecutionException("maxPending reached: " + n + " timers are armed");
            }
            if (held.compareAndSet(n, n + 1)) {
                return;
            }
        }
    }

    long held() {
        return held.get();
    }
}
