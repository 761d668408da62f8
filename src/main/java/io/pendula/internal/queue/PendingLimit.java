package io.pendula.internal.queue;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/** The bound on armed timers that {@code maxPending} sets: one permit for as long as a timer is armed. */
public final class PendingLimit {
    private final long max;
    private final AtomicLong held = new AtomicLong();

    public PendingLimit(long max) {
        this.max = max;
    }

    /** Takes a permit or throws; never above the bound, not even for a moment. */
    public void acquire() {
        for (long n = held.get(); ; n = held.get()) {
            if (n >= max) {
                throw new RejectedExecutionException("maxPending is reached: " + n
                        + (n == 1 ? " timer is pending" : " timers are pending"));
            }
            if (held.compareAndSet(n, n + 1)) {
                return;
            }
        }
    }

    public void release() {
        held.decrementAndGet();
    }

    public long held() {
        return held.get();
    }
}
