package io.pendula.internal.queue;

/** The figures of a queue, or of several together, as {@code TimerStats.Queue} explains them. */
public record QueueSnapshot(long fired, long stopped, long reset, long unfired, long pending, long staleEntries,
        long heapCapacity, long staleDropped, long stolen, long callerDrains, long nanosUntilNext,
        LatenessHistogram lateness) {
    public static final QueueSnapshot NOTHING =
            new QueueSnapshot(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Long.MAX_VALUE, new LatenessHistogram());

    public QueueSnapshot plus(QueueSnapshot b) {
        return new QueueSnapshot(fired + b.fired, stopped + b.stopped, reset + b.reset, unfired + b.unfired,
                pending + b.pending, staleEntries + b.staleEntries, heapCapacity + b.heapCapacity,
                staleDropped + b.staleDropped, stolen + b.stolen, callerDrains + b.callerDrains,
                Math.min(nanosUntilNext, b.nanosUntilNext), lateness.plus(b.lateness));
    }

    public long armed() {
        return fired + stopped + reset + unfired + pending;
    }
}
