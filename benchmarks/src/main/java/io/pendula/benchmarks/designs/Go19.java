package io.pendula.benchmarks.designs;

/**
 * The timers of Go up to 1.9: one 4-ary heap, one lock, and one thread that sleeps for the heap's top.
 *
 * <p>Costs: arming and stopping sift under the lock, in O(log n), and a timer that becomes the top wakes the thread.
 * All processors contend for the one lock; a callback that takes long delays all timers. A reset is a stop and a
 * start.
 *
 * <p>Pendula keeps the 4-ary heap, but has one for each worker, gives each an inbox that needs no lock, and leaves a
 * stopped timer's entry in the heap.
 */
final class Go19 extends HeapQueue {
    Go19() {
        super(4, Sleeper.PARKING);
    }
}
