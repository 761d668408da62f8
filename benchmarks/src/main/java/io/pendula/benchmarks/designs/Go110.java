package io.pendula.benchmarks.designs;

/**
 * The timers of Go 1.10 to 1.13: 64 times the heap, lock and thread of {@link Go19}. The arming processor selects one.
 * Here a thread stands for a processor. A queue's thread starts with its first timer.
 *
 * <p>Costs: as with one heap, but two processors seldom contend. In exchange each of up to 64 threads wakes for its own
 * deadlines, and each firing is a thread switch.
 *
 * <p>Pendula has as many queues as workers, and the worker that runs the callbacks is the thread that sleeps.
 */
final class Go110 extends Sharded {
    /** As many as Go had, whatever the number of its processors. */
    static final int QUEUES = 64;

    /** @param queues other than 64 to find out what their number does */
    Go110(int queues) {
        super(queues, Go19::new);
    }
}
