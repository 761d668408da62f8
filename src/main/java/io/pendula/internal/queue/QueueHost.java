package io.pendula.internal.queue;

/** What a queue, or what has one of its timers, asks of the scheduler that it belongs to. */
public interface QueueHost {
    String name();

    boolean isClosed();

    /** How long after an entry has become stale the queue is swept if nothing else wakes its owner. */
    long fullSweepNanos();

    /** The thread that runs a timer, or null. */
    Thread runnerOf(TimerNode timer);
}
