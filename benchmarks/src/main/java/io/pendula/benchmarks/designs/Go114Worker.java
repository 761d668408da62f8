package io.pendula.benchmarks.designs;

import static io.pendula.benchmarks.designs.Go114.DELETED;
import static io.pendula.benchmarks.designs.Go114.MODIFIED_EARLIER;
import static io.pendula.benchmarks.designs.Go114.MODIFIED_LATER;
import static io.pendula.benchmarks.designs.Go114.MODIFYING;
import static io.pendula.benchmarks.designs.Go114.MOVING;
import static io.pendula.benchmarks.designs.Go114.NO_STATUS;
import static io.pendula.benchmarks.designs.Go114.REMOVED;
import static io.pendula.benchmarks.designs.Go114.REMOVING;
import static io.pendula.benchmarks.designs.Go114.RUNNING;
import static io.pendula.benchmarks.designs.Go114.WAITING;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A worker of {@link Go114}: its heap, its lock, its thread. The heap holds WAITING, DELETED and modified timers. Only
 * the holder of the lock takes a timer out of the heap or changes its key.
 */
final class Go114Worker implements TimerThread.Source {
    final Go114 scheduler;
    private final ReentrantLock lock = new ReentrantLock();
    private final Heap<Go114Timer> heap = new Heap<>(4);
    private final TimerThread thread = new TimerThread(this, Sleeper.PARKING);
    // Both counts change in the window before the state does, so neither is ever too low.
    private final AtomicInteger deleted = new AtomicInteger();
    private final AtomicInteger modifiedEarlier = new AtomicInteger();
    /** The key of the heap's top, to be read without the lock. */
    private volatile long topWhen = Clock.NEVER;

    Go114Worker(Go114 scheduler) {
        this.scheduler = scheduler;
        thread.start();
    }

    void wakeIfBefore(long when) {
        thread.wakeIfBefore(when);
    }

    /** For tests; exact as long as no timer is due or armed. */
    boolean isAsleep() {
        return thread.isAsleep(topWhen);
    }

    void close() {
        thread.close();
    }

    /** Called in the window of the timer. */
    void onStopped(boolean wasEarlier) {
        deleted.incrementAndGet();
        if (wasEarlier) {
            modifiedEarlier.decrementAndGet();
        }
    }

    /** Called in the window of the timer. */
    void onModified(int before, boolean isEarlier) {
        if (before == DELETED) {
            deleted.decrementAndGet();
        }
        int more = (isEarlier ? 1 : 0) - (before == MODIFIED_EARLIER ? 1 : 0);
        if (more != 0) {
            modifiedEarlier.addAndGet(more);
        }
    }

    /** Inserts a timer that is in no heap: a new one, or one that is in the window of a reset. */
    void insert(Go114Timer timer) {
        lock.lock();
        try {
            // Go leaves this to the worker; here the worker may sleep for long while other threads arm and stop.
            clearIfManyDeleted();
            cleanTop();
            timer.worker = this;
            heap.add(timer);
            publishTop();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Node takeDue(long now) {
        lock.lock();
        try {
            adjust();
            Go114Timer due = pollDue(now);
            if (due == null) {
                clearIfManyDeleted();
            }
            publishTop();
            return due;
        } finally {
            lock.unlock();
        }
    }

    /** At once if a timer was moved to an earlier time, as {@link #adjust} has to find it first. */
    @Override
    public long nextDeadline() {
        return modifiedEarlier.get() > 0 ? 0 : topWhen;
    }

    // All of the following are called with the lock held.

    private void publishTop() {
        Go114Timer top = heap.top();
        long when = top == null ? Clock.NEVER : top.when;
        if (when != topWhen) {
            topWhen = when;
        }
    }

    private Go114Timer pollDue(long now) {
        while (heap.size() > 0) {
            Go114Timer top = heap.top();
            int status = top.status();
            if (status == WAITING) {
                if (top.when > now) {
                    return null;
                }
                if (top.casStatus(WAITING, RUNNING)) {
                    heap.removeAt(0);
                    top.setStatus(NO_STATUS);
                    return top;
                }
            } else {
                tidy(0, status);
            }
        }
        return null;
    }

    /** Gives all timers that were moved to an earlier time their places. */
    private void adjust() {
        for (int i = 0; i < heap.size() && modifiedEarlier.get() > 0; ) {
            int status = heap.get(i).status();
            i = status == WAITING ? i + 1 : tidy(i, status);
        }
    }

    /** Spares the worker timers that were stopped or modified before they are due. */
    private void cleanTop() {
        while (heap.size() > 0) {
            int status = heap.top().status();
            if (status == WAITING || status == MODIFYING) {
                return;
            }
            tidy(0, status);
        }
    }

    /**
     * Removes a deleted timer, or gives a modified one its place. Returns the first index that has to be looked at
     * again.
     */
    private int tidy(int index, int status) {
        Go114Timer timer = heap.get(index);
        switch (status) {
            case DELETED -> {
                if (timer.casStatus(DELETED, REMOVING)) {
                    int changed = heap.removeAt(index);
                    leave(timer);
                    return changed;
                }
            }
            case MODIFIED_EARLIER, MODIFIED_LATER -> {
                if (timer.casStatus(status, MOVING)) {
                    int changed = heap.removeAt(index);
                    timer.when = timer.nextWhen;
                    heap.add(timer);
                    settle(timer, status);
                    return changed;
                }
            }
            case MODIFYING -> Thread.yield();
            default -> throw new IllegalStateException("a timer in the heap has the status " + status);
        }
        return index;
    }

    private void clearIfManyDeleted() {
        if (deleted.get() > heap.size() / 4) {
            heap.retain(this::stays);
        }
    }

    private boolean stays(Go114Timer timer) {
        for (;;) {
            int status = timer.status();
            switch (status) {
                case WAITING -> {
                    return true;
                }
                case DELETED -> {
                    if (timer.casStatus(DELETED, REMOVING)) {
                        leave(timer);
                        return false;
                    }
                }
                case MODIFIED_EARLIER, MODIFIED_LATER -> {
                    if (timer.casStatus(status, MOVING)) {
                        timer.when = timer.nextWhen;
                        settle(timer, status);
                        return true;
                    }
                }
                case MODIFYING -> Thread.yield();
                default -> throw new IllegalStateException("a timer in the heap has the status " + status);
            }
        }
    }

    private void leave(Go114Timer timer) {
        deleted.decrementAndGet();
        timer.setStatus(REMOVED);
    }

    private void settle(Go114Timer timer, int modified) {
        if (modified == MODIFIED_EARLIER) {
            modifiedEarlier.decrementAndGet();
        }
        timer.setStatus(WAITING);
    }
}
