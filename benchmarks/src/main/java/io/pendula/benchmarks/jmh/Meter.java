package io.pendula.benchmarks.jmh;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets a benchmark's thread wait until other threads have done so many operations. The waits follow each other without
 * a gap: what is done while the waiting thread wakes up counts for its next wait.
 */
final class Meter {
    private static final long NONE = Long.MAX_VALUE;

    private final AtomicLong total = new AtomicLong();
    private volatile long goal = NONE;
    private volatile Thread waiter;
    private long reached;

    /** Called for some operations at a time. */
    void add(int operations) {
        if (total.addAndGet(operations) >= goal) {
            goal = NONE;
            LockSupport.unpark(waiter);
        }
    }

    /** Forgets what has been done so far; called before a series of waits. */
    void restart() {
        reached = total.get();
    }

    void await(int operations) {
        reached += operations;
        waiter = Thread.currentThread();
        goal = reached;
        while (total.get() < reached) {
            LockSupport.parkNanos(this, MILLISECONDS.toNanos(10)); // should an unpark go by
        }
    }
}
