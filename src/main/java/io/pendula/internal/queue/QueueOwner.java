package io.pendula.internal.queue;

/** Sees to it that a queue's due timers run: the workers together, or an application's loop. */
public interface QueueOwner {
    /**
     * Ends the owner's sleep, or its next one if it is up, as a timer was armed for {@code when}, or something is to be done
     * by then. Called by the thread that has moved the queue's pollUntil to AWAKE from a later instant. The caller holds no
     * lock. Must not throw, nor wait for long.
     */
    void wakeFor(WakeGate gate, long when);

    /** A timer was armed for {@code when}, before the gate's helpBefore, while pollUntil says AWAKE. */
    default void help(WakeGate gate, long when) {}

    /** Something is armed where nothing was, as far as is known. */
    default void firstIsArmed() {}

    /** Until when it sleeps though it was woken, as its thread could not be; else AWAKE. Called under the queue's lock. */
    default long sleepsUntil() {
        return WakeGate.AWAKE;
    }

    /** Whether it wants to know when the earliest timer in the inbox is due. */
    default boolean asksForArrivals() {
        return false;
    }
}
