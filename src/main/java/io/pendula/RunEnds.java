package io.pendula;

import java.util.concurrent.TimeUnit;

/**
 * Where those wait who want a callback's run to end. An awaiter announces itself, then looks at the timer's word; the
 * run's end changes the word, then looks for awaiters. Both are volatile, so one of the two sees the other.
 */
final class RunEnds {
    private volatile int awaiters;

    /** The word of some timer has just left the running states. */
    void signal() {
        if (awaiters != 0) {
            synchronized (this) {
                notifyAll();
            }
        }
    }

    /** Waits until no run of the timer is in progress; false if that took longer than {@code nanos}. */
    boolean await(TimerNode t, long nanos) throws InterruptedException {
        if (!isRunning(t)) {
            return true;
        }
        long end = System.nanoTime() + nanos;
        synchronized (this) {
            awaiters++;
            try {
                while (isRunning(t)) {
                    long left = end - System.nanoTime();
                    if (left <= 0) {
                        return false;
                    }
                    TimeUnit.NANOSECONDS.timedWait(this, left);
                }
                return true;
            } finally {
                awaiters--;
            }
        }
    }

    private static boolean isRunning(TimerNode t) {
        return TimerNode.isRunning(TimerNode.state(t.wordVolatile()));
    }
}
