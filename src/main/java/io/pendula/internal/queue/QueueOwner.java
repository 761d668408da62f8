package io.pendula.internal.queue;

/** Sees to it that a queue's due timers run: the workers together, or an application's loop. */
public interface QueueOwner {
    /** Called after the queue's pollUntil was moved to AWAKE. The caller holds no lock; never blocks, never throws. */
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
