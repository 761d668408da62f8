package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.isRunning;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that waits until a timer's callback is no longer running. It enters itself, then looks at the timer's word; the
 * run's end changes the word, then looks for threads that wait for this timer. Both are volatile, so one of the two sees
 * the other.
 *
 * <p>All that wait at one queue are a list, which is copied at each change, so that the end of a run takes no lock.
 */
public record RunAwaiter(TimerNode timer, Thread thread) {
    /** The word of {@code t} has just left the running states. */
    static void signal(List<RunAwaiter> awaiters, TimerNode t) {
        for (RunAwaiter a : awaiters) {
            if (a.timer == t) {
                LockSupport.unpark(a.thread);
            }
        }
    }

    /** Waits until no run of the timer is in progress; false if that took longer than {@code nanos}. */
    public static boolean await(List<RunAwaiter> awaiters, TimerNode t, long nanos) throws InterruptedException {
        HoldLock.checkStack(); // or it might stay in the list
        long end = System.nanoTime() + nanos;
        RunAwaiter me = new RunAwaiter(t, Thread.currentThread());
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
                LockSupport.parkNanos(awaiters, left);
            }
            return true;
        } finally {
            awaiters.remove(me);
        }
    }
}
