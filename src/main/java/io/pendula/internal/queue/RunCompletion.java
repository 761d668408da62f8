package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.isRunning;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets threads wait until a timer's callback is no longer running. A thread that waits enters itself, then looks at the
 * timer's word; the run's end changes the word, then looks for threads that wait for this timer. Both are volatile, so
 * one of the two sees the other.
 */
public final class RunCompletion {
    private record Awaiter(TimerNode timer, Thread thread) {}

    /** Copied at each change, so that the end of a run takes no lock. */
    final CopyOnWriteArrayList<Awaiter> awaiters = new CopyOnWriteArrayList<>();

    /** The word of {@code t} has just left the running states. */
    void signal(TimerNode t) {
        if (!awaiters.isEmpty()) {
            for (Awaiter a : awaiters) {
                if (a.timer == t) {
                    LockSupport.unpark(a.thread);
                }
            }
        }
    }

    /** Waits until no run of the timer is in progress; false if that took longer than {@code nanos}. */
    public boolean await(TimerNode t, long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        Awaiter me = new Awaiter(t, Thread.currentThread());
        awaiters.add(me);
        try {
            while (isRunning(state(t.wordVolatile()))) {
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
            awaiters.remove(me);
        }
    }
}
