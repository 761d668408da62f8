package io.pendula.benchmarks.designs;

/**
 * The timers of the message server Goim: a binary heap with stored indexes. Adding, deleting and setting a new deadline
 * take one lock; one thread sleeps for the heap's top.
 *
 * <p>Costs: O(log n) under the lock for each operation. A binary heap has twice the levels of a 4-ary one, so a sift
 * touches more cache lines. A new deadline needs no new object and one hold of the lock. Goim also recycles its timers
 * through a free list; this class leaves that to the garbage collector, since a recycled handle may stop an unrelated
 * timer.
 *
 * <p>Pendula keeps the reset in place, and makes it a single compare-and-set where the deadline moves to a later time.
 */
final class Goim extends HeapQueue {
    Goim() {
        super(2, Sleeper.PARKING);
    }

    @Override
    public Object reset(Object handle, long delayNanos, Task task) {
        move(handle, delayNanos);
        return handle;
    }
}
