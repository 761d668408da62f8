package io.pendula;

/** What a scheduler without a listener does: exceptions go to the uncaught-exception handler, stalls to the log. */
final class DefaultListener implements TimerListener {
    @Override
    public void slow(TimerHandle timer, long latenessNanos, long ranNanos) {
        LoggingListener.Shared.INSTANCE.slow(timer, latenessNanos, ranNanos);
    }

    @Override
    public void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
        LoggingListener.Shared.INSTANCE.stalled(timer, latenessNanos, blockedNanos);
    }

    @Override
    public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
        LoggingListener.Shared.INSTANCE.loopStalled(loop, timer, latenessNanos);
    }
}
