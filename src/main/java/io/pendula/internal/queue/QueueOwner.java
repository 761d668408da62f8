package io.pendula.internal.queue;

/** Runs the due timers of one or more queues: the workers of a scheduler together, or an application's loop. */
public interface QueueOwner {
    /**
     * Ends the sleep of the thread that checks next, or its next sleep if it is awake. Called by the thread that has moved
     * the gate to AWAKE. The caller holds no lock. Must neither throw nor wait for long.
     */
    void call();

    /** False if the owner checks anyway, before it sleeps or may be held up. */
    default boolean needsCall(long when) {
        return true;
    }

    /** The first timer since a drain has arrived in a queue. */
    default void firstHasArrived() {}
}
