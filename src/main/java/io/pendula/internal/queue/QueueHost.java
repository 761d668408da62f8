package io.pendula.internal.queue;

/** What a queue asks of the scheduler that it belongs to. */
public interface QueueHost {
    /**
     * A push met a queue that has left the scheduler's list. Afterwards the queue takes timers again, or is closed;
     * false if memory is short, and it has still left.
     */
    boolean bringBack(TimerQueue q);

    boolean isClosed();

    /** How long after an entry has become stale the queue is swept if nothing else wakes its owner. */
    long fullSweepNanos();
}
