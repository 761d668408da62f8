package io.pendula.internal.queue;

import java.util.concurrent.locks.LockSupport;

/**
 * A thread that waits until a timer's callback is no longer running. It enters itself, then looks at the timer's word; the
 * run's end changes the word, then looks for threads that wait for this timer. Both are volatile, so one of the two sees
 * the other.
 *
 * <p>All that wait at one queue are a list that is linked through themselves, so neither the end of a run nor that of a wait
 * needs memory. The end of a run takes no lock: an awaiter that has left keeps its link, so a walk that is there goes on.
 */
public final class RunAwaiter {
    private final TimerNode timer;
    private final Thread thread = Thread.currentThread();
    /** Changed under the monitor of the queue. */
    volatile RunAwaiter next;

    private RunAwaiter(TimerNode timer) {
        this.timer = timer;
    }

    /** The word of {@code t} has just left the running states; {@code first} is the first that waits at its queue. */
    static void signal(RunAwaiter first, TimerNode t) {
        for (RunAwaiter a = first; a != null; a = a.next) {
            if (a.timer == t) {
                LockSupport.unpark(a.thread);
            }
        }
    }

    /** Waits until no run of the timer is in progress; false if that took longer than {@code nanos}. */
    public static boolean await(TimerQueue queue, TimerNode t, long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        RunAwaiter me = new RunAwaiter(t);
        me.enter(queue);
        try {
            while (t.isInRun()) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                LockSupport.parkNanos(queue, left);
            }
            return true;
        } finally {
            me.leave(queue);
        }
    }

    private void enter(TimerQueue queue) {
        synchronized (queue) {
            next = queue.awaiters;
            queue.awaiters = this;
        }
    }

    private void leave(TimerQueue queue) {
        synchronized (queue) {
            if (queue.awaiters == this) {
                queue.awaiters = next;
                return;
            }
            RunAwaiter before = queue.awaiters;
            while (before.next != this) {
                before = before.next;
            }
            before.next = next;
        }
    }
}
