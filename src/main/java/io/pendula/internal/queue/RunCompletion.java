package io.pendula.internal.queue;


import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets threads wait until a timer's callback is no longer running. A thread that waits enters itself, then looks at the
 * timer's word; the run's end changes the word, then looks for threads that wait for this timer. Both are volatile, so
 * one of the two sees the other.
 */
public final class RunCompletion {
    private record Awaiter(TimerNode timer, Thread thread) {}

    /** Null until a thread waits. Copied at each change, under this object's monitor; the end of a run takes no lock. */
    private volatile Awaiter[] awaiters;

    /** The word of {@code t} has just left the running states. */
    void signal(TimerNode t) {
        Awaiter[] all = awaiters;
        for (int i = 0; all != null && i < all.length; i++) {
            Awaiter a = all[i];
            if (a.timer == t) {
                LockSupport.unpark(a.thread);
            }
        }
    }

    /** Waits until no run of the timer is in progress; false if that took longer than {@code nanos}. */
    public boolean await(TimerNode t, long nanos) throws InterruptedException {
        if (!isRunning(t)) {
            return true;
        }
        long end = System.nanoTime() + nanos;
        Awaiter me = new Awaiter(t, Thread.currentThread());
        enter(me);
        try {
            while (isRunning(t)) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                LockSupport.parkNanos(this, left);
            }
            return true;
        } finally {
            leave(me);
        }
    }

    private synchronized void enter(Awaiter me) {
        Awaiter[] more = awaiters == null ? new Awaiter[1] : Arrays.copyOf(awaiters, awaiters.length + 1);
        more[more.length - 1] = me;
        awaiters = more;
    }

    private synchronized void leave(Awaiter me) {
        Awaiter[] rest = new Awaiter[awaiters.length - 1];
        int n = 0;
        for (Awaiter a : awaiters) {
            if (a != me) {
                rest[n++] = a;
            }
        }
        awaiters = rest;
    }

    /** How many threads wait. */
    public int awaiting() {
        Awaiter[] all = awaiters;
        return all == null ? 0 : all.length;
    }

    private static boolean isRunning(TimerNode t) {
        return TimerNode.isRunning(TimerNode.state(t.wordVolatile()));
    }
}
