package io.pendula;

import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.pendula.internal.queue.TimerNode;
import java.util.List;

/** Writes what it is told to an {@link EventLog}, which knows nodes only. */
final class LoggingListener implements TimerListener {
    private final EventLog log;

    LoggingListener(EventLog log) {
        this.log = log;
    }

    @Override
    public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
        log.threw((TimerNode) timer, latenessNanos, thrown);
    }

    @Override
    public void slow(TimerHandle timer, long latenessNanos, long ranNanos) {
        log.slow((TimerNode) timer, latenessNanos, ranNanos);
    }

    @Override
    public void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
        log.stalled((TimerNode) timer, latenessNanos, blockedNanos);
    }

    @Override
    public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
        log.loopStalled(loop.worker, loop.worker.thread, (TimerNode) timer, latenessNanos);
    }

    @Override
    public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
        log.hear(new EventLog.Account(INFO, "loops were closed with timers armed", loop.worker.engine), null, 0,
                () -> loop + " was closed with " + Texts.count(unfired.size(), "timer") + " armed", null);
    }

    @Override
    public void paused(long pausedNanos) {
        log.hear(new EventLog.Account(WARNING, "pauses", null), null, pausedNanos,
                () -> "no thread could run for " + Texts.duration(pausedNanos), null);
    }

    @Override
    public void wakeupThrew(TimerLoop loop, Throwable thrown) {
        log.hear(new EventLog.Account(ERROR, "wakeups of loops threw", loop.worker.engine), null, 0,
                () -> "the wakeup of " + loop + " threw", thrown);
    }

    @Override
    public String toString() {
        return "TimerListener.logging()";
    }
}
