package io.pendula;

import io.pendula.internal.queue.TimerQueue;
import java.util.concurrent.locks.LockSupport;

/** A node for whose end threads wait. */
abstract class AwaitedNode extends QueuedNode {
    /*
     * A thread that waits enters itself in waiters, then looks at the word; a thread that ends the task changes the
     * word, then looks at waiters. Both are volatile, so one of the two sees the other.
     */

    private volatile Waiter waiters;

    /** One thread that waits. The list is changed under the monitor of the queue's runCompletion, for a few steps only. */
    private static final class Waiter {
        final Thread thread = Thread.currentThread();
        Waiter next;
    }

    AwaitedNode(TimerQueue queue, Runnable task) {
        super(queue, task);
    }

    /** What the word says. */
    public abstract boolean isDone();

    /** Until it is done; false if {@code nanos} ran out before. */
    final boolean await(boolean timed, long nanos) throws InterruptedException {
        if (isDone()) { // before the interrupt: what is there need not be waited for
            return true;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (timed && nanos <= 0) {
            return false;
        }
        long start = System.nanoTime();
        Waiter me = new Waiter();
        synchronized (queue.runCompletion) {
            me.next = waiters;
            waiters = me;
        }
        try {
            while (!isDone()) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (timed) {
                    long left = nanos - (System.nanoTime() - start);
                    if (left <= 0) {
                        return false;
                    }
                    LockSupport.parkNanos(this, left);
                } else {
                    LockSupport.park(this);
                }
            }
            return true;
        } finally {
            forget(me);
        }
    }

    private void forget(Waiter me) {
        synchronized (queue.runCompletion) {
            if (waiters == me) {
                waiters = me.next;
                return;
            }
            for (Waiter w = waiters; w != null; w = w.next) {
                if (w.next == me) {
                    w.next = me.next;
                    return;
                }
            }
        }
    }

    /** After it has become done. Threads that wait take themselves out; they may be here for a moment then. */
    final void wakeWaiters() {
        if (waiters != null) {
            synchronized (queue.runCompletion) {
                for (Waiter w = waiters; w != null; w = w.next) {
                    LockSupport.unpark(w.thread);
                }
            }
        }
    }
}
