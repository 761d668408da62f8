package io.pendula;

/**
 * How long threads have held the lock of a scheduler's queue, which the API does not tell. The one place where the
 * benchmarks use the library's inside.
 */
public final class QueueHolds {
    private QueueHolds() {}

    /** The most timers that one hold of the first queue's lock has moved. */
    public static long longest(TimerScheduler timers) {
        return timers.engine.queues[0].view().longestHold();
    }
}
