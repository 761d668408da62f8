package io.pendula.internal.queue;

/** Runs the due timers of one or more queues: the workers of a scheduler together, or an application's loop. */
public interface QueueOwner {
    /**
     * Ends the sleep of the thread that looks next, or its next sleep if it is up. Called by the thread that has moved
     * the gate to AWAKE. The caller holds no lock. Must not throw, nor wait for long.
     */
    void call();

    /** False if the owner looks anyway, before it sleeps or may be held up. */
    default boolean needsCall(long when) {
        return true;
    }

    /** Something has arrived in a queue where nothing had. */
    default void firstHasArrived() {}

    /** Of a loop: until when it sleeps though it was called, as the call has failed; else AWAKE. Under the queue's lock. */
    default long sleepsUntil() {
        return WakeGate.AWAKE;
    }
}
