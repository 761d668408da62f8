package io.pendula.internal.queue;

/** Sees to it that a queue's due timers run: the workers together, or an application's loop. */
public interface QueueOwner {
    /**
     * Ends the owner's sleep, or its next one if it is up. Called by the thread that has moved the queue's pollUntil to
     * AWAKE; of a loop by a close of the scheduler, too. The caller holds no lock. Must not throw, nor wait for long.
     */
    void wake();

    /** The same after a timer was armed for {@code when}, which is earlier than pollUntil was. */
    default void wakeFor(WakeGate gate, long when) {
        wake();
    }

    /** A timer was armed for {@code when}, before the gate's helpBefore, while pollUntil says AWAKE. */
    default void help(WakeGate gate, long when) {}

    /** Something is armed where nothing was, as far as is known. */
    default void firstIsArmed() {}

    /** Whether it wants to know when the earliest timer in the inbox is due. */
    default boolean asksForArrivals() {
        return false;
    }
}
