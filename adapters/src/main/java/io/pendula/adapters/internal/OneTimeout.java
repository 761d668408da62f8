package io.pendula.adapters.internal;

import io.pendula.spi.TaskWrapper;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * A timeout: pending, then either cancelled or expired. Safe for use by multiple threads.
 *
 * @since 0.1
 */
public abstract class OneTimeout implements Runnable, TaskWrapper {
    private static final AtomicIntegerFieldUpdater<OneTimeout> STATE =
            AtomicIntegerFieldUpdater.newUpdater(OneTimeout.class, "state");

    private static final int PENDING = 0;
    private static final int CANCELLED = 1;
    private static final int EXPIRED = 2;

    private volatile int state = PENDING;
    /** Written once, possibly after the run. A cancel that reads null leaves an entry behind that does nothing. */
    private Future<?> future;

    /** A pending timeout. */
    protected OneTimeout() {}

    void armed(Future<?> armed) {
        future = armed;
    }

    /** Called once, when the timeout is due and was not cancelled. It must report its own exceptions. */
    protected abstract void expire();

    /** Called by the scheduler. */
    @Override
    public final void run() {
        if (STATE.compareAndSet(this, PENDING, EXPIRED)) {
            expire();
        }
    }

    /**
     * Prevents the run, if it has not begun.
     *
     * @return true if this call prevented it
     */
    protected final boolean prevent() {
        if (!STATE.compareAndSet(this, PENDING, CANCELLED)) {
            return false;
        }
        Future<?> armed = future;
        if (armed != null) {
            armed.cancel(false);
        }
        return true;
    }

    /** {@return whether the run has begun} */
    public final boolean isExpired() {
        return state == EXPIRED;
    }

    /** {@return whether the run was prevented} */
    public final boolean isCancelled() {
        return state == CANCELLED;
    }

    /** {@return state and task, for people} */
    @Override
    public final String toString() {
        String word = switch (state) {
            case PENDING -> "pending";
            case CANCELLED -> "cancelled";
            default -> "expired";
        };
        return getClass().getSimpleName() + "[" + word + ", task: " + task() + "]";
    }
}
