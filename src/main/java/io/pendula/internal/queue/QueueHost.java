package io.pendula.internal.queue;

/** What a queue asks of the scheduler that it belongs to. */
public interface QueueHost {
    boolean isClosed();

    /** How long after an entry has become stale the queue is swept if nothing else wakes its owner. */
    long fullSweepNanos();
}
