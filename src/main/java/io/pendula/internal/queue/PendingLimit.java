package io.pendula.internal.queue;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/** The bound on armed timers that {@code maxPending} sets. Each armed timer holds one permit. */
public final class PendingLimit {
    private final long max;
    private final AtomicLong held = new AtomicLong();

    public PendingLimit(long max) {
        this.max = max;
    }

    /**
     * Takes a permit (1) or throws, or gives one back (-1). Never exceeds the bound, not even for a moment. One method does
     * both: if a thread has enough stack to take a permit, it has enough to give it back.
     */
    public void take(int permits) {
        for (long n = held.get(); ; n = held.get()) {
            if (permits > 0 && n >= max) {
                throw new RejectedExecutionException("maxPending is reached: " + n
                        + (n == 1 ? " timer is pending" : " timers are pending"));
            }
            if (held.compareAndSet(n, n + permits)) {
                return;
            }
        }
    }

    public long held() {
        return held.get();
    }
}
