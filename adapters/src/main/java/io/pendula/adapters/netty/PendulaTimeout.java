package io.pendula.adapters.netty;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/** One timeout of a {@link PendulaTimer}: pending, then either cancelled or expired. */
final class PendulaTimeout implements Timeout, Runnable {
    private static final InternalLogger LOG = InternalLoggerFactory.getInstance(PendulaTimer.class);
    private static final AtomicIntegerFieldUpdater<PendulaTimeout> STATE =
            AtomicIntegerFieldUpdater.newUpdater(PendulaTimeout.class, "state");

    /** Netty 4.1 has no {@link TimerTask#cancelled}. */
    private static final boolean HAS_HOOK = hasHook();

    private static final int PENDING = 0;
    private static final int CANCELLED = 1;
    private static final int EXPIRED = 2;

    private final PendulaTimer timer;
    private final TimerTask task;
    private volatile int state = PENDING;
    /** Written once, possibly after the run. A cancel that reads null leaves an entry behind that does nothing. */
    private Future<?> future;

    PendulaTimeout(PendulaTimer timer, TimerTask task) {
        this.timer = timer;
        this.task = task;
    }

    void armed(Future<?> armed) {
        future = armed;
    }

    @Override
    public void run() {
        if (timer.isCollected(this) || !STATE.compareAndSet(this, PENDING, EXPIRED)) {
            return;
        }
        try {
            timer.run(this);
        } catch (Throwable e) {
            LOG.warn("The task {} threw.", task, e);
        }
    }

    /** Cancels without the hook, and leaves the future alone. */
    boolean cancelQuietly() {
        return STATE.compareAndSet(this, PENDING, CANCELLED);
    }

    @Override
    public boolean cancel() {
        if (!cancelQuietly()) {
            return false;
        }
        Future<?> armed = future;
        if (armed != null) {
            armed.cancel(false);
        }
        if (HAS_HOOK) {
            try {
                task.cancelled(this);
            } catch (Throwable e) {
                LOG.warn("The cancellation hook of the task {} threw.", task, e);
            }
        }
        return true;
    }

    private static boolean hasHook() {
        try {
            TimerTask.class.getMethod("cancelled", Timeout.class);
            return true;
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    @Override
    public Timer timer() {
        return timer;
    }

    @Override
    public TimerTask task() {
        return task;
    }

    @Override
    public boolean isExpired() {
        return state == EXPIRED;
    }

    @Override
    public boolean isCancelled() {
        return state == CANCELLED;
    }

    @Override
    public String toString() {
        String word = switch (state) {
            case PENDING -> "pending";
            case CANCELLED -> "cancelled";
            default -> "expired";
        };
        return "PendulaTimeout[" + word + ", task: " + task + "]";
    }
}
