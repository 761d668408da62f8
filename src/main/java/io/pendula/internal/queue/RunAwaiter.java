package io.pendula.internal.queue;

import java.util.concurrent.locks.LockSupport;

/**
 * A thread that waits until a timer's callback is no longer running. It adds itself to the queue's list, then reads the
 * timer's word. The run's end changes the word, then reads the list. Both are volatile, so one of the two sees the other.
 *
 * <p>The awaiters of a queue are linked to each other, so neither the end of a run nor the end of a wait allocates. The end
 * of a run takes no lock: an awaiter that has left keeps its link, so a walk that has reached it continues.
 */
public final class RunAwaiter {
    private final TimerNode timer;
    private final Thread thread = Thread.currentThread();
    /** Changed under the queue's monitor. */
    volatile RunAwaiter next;

    private RunAwaiter(TimerNode timer) {
        this.timer = timer;
    }

    /** The word of {@code t} has just left the running states. {@code first} is the first awaiter of its queue. */
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
