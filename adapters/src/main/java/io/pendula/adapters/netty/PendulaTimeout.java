package io.pendula.adapters.netty;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.pendula.adapters.internal.OneTimeout;

/** One timeout of a {@link PendulaTimer}. */
final class PendulaTimeout extends OneTimeout implements Timeout {
    private static final InternalLogger LOG = InternalLoggerFactory.getInstance(PendulaTimer.class);

    /** Netty 4.1 has no {@link TimerTask#cancelled}. */
    private static final boolean HAS_HOOK = hasHook();

    private final PendulaTimer timer;
    private final TimerTask task;

    PendulaTimeout(PendulaTimer timer, TimerTask task) {
        this.timer = timer;
        this.task = task;
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
    protected void expire() {
        try {
            timer.run(this);
        } catch (Throwable e) {
            LOG.warn("The task {} threw.", task, e);
        }
    }

    @Override
    public boolean cancel() {
        if (!prevent()) {
            return false;
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

    @Override
    public Timer timer() {
        return timer;
    }

    @Override
    public TimerTask task() {
        return task;
    }
}
