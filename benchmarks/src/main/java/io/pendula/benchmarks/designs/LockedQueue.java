package io.pendula.benchmarks.designs;

import io.pendula.benchmarks.rivals.Rival;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What most designs have in common: a queue, one lock around it that all threads take, and one thread that runs what is
 * due. The thread starts with the first timer. Callbacks run without the lock.
 *
 * @param <N> what the queue consists of
 */
abstract class LockedQueue<N extends Node> implements Rival, TimerThread.Source {
    private final ReentrantLock lock = new ReentrantLock();
    private final TimerThread thread;
    private boolean started;

    LockedQueue(Sleeper sleeper) {
        this.thread = new TimerThread(this, sleeper);
    }

    abstract N newNode(Runnable task, long when);

    // The following are called with the lock held.

    /** Returns the time at which the thread has to be awake for this timer. */
    abstract long insert(N node);

    /** False if the timer is not in the queue. */
    abstract boolean remove(N node);

    /** As of {@link TimerThread.Source#takeDue}. */
    abstract N pollDue(long now);

    /** As of {@link TimerThread.Source#nextDeadline}. */
    abstract long next();

    @Override
    public final Object schedule(long delayNanos, Task task) {
        return armAt(Clock.after(delayNanos), task);
    }

    final Object armAt(long when, Runnable task) {
        N node = newNode(task, when);
        long awakeAt;
        lock.lock();
        try {
            if (!started) {
                thread.start();
                started = true;
            }
            awakeAt = insert(node);
        } finally {
            lock.unlock();
        }
        thread.wakeIfBefore(awakeAt);
        return node;
    }

    @Override
    public final boolean cancel(Object handle) {
        lock.lock();
        try {
            return remove(node(handle));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Moves the timer in one hold of the lock, for designs that can; it is armed anew if it has fired or was stopped.
     */
    final void move(Object handle, long delayNanos) {
        N node = node(handle);
        long when = Clock.after(delayNanos);
        long awakeAt;
        lock.lock();
        try {
            remove(node);
            node.when = when;
            awakeAt = insert(node);
        } finally {
            lock.unlock();
        }
        thread.wakeIfBefore(awakeAt);
    }

    @Override
    public final Node takeDue(long now) {
        lock.lock();
        try {
            return pollDue(now);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public final long nextDeadline() {
        lock.lock();
        try {
            return next();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        thread.close();
    }

    @SuppressWarnings("unchecked")
    private N node(Object handle) {
        return (N) handle;
    }
}
