package io.pendula;

/** Whoever sleeps for a queue: sees to it that its due timers run, and can be woken when an earlier one arrives. */
interface Keeper {
    /** Called by whoever moved the queue's pollUntil to AWAKE, and holds no lock; never blocks, never throws. */
    void wake();

    /** Whether nobody else may run what it keeps. */
    default boolean isConfined() {
        return false;
    }

    /** Whether it wants to know when the earliest timer in the inbox is due. */
    default boolean asksForArrivals() {
        return false;
    }
}
