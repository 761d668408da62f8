package io.pendula;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.util.Check;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Timers and tickers that are cancelled together, for example all those of a connection.
 *
 * <pre>{@code
 * TimerGroup group = timers.group("connection");
 * Timer idle = group.after(Duration.ofMinutes(5), connection::close);
 * group.every(Duration.ofSeconds(30), connection::ping);
 * connection.onClose(group::close);
 * }</pre>
 *
 * <p>A group is a list: it has no thread, queue or limit of its own. A timer that has fired or was stopped may be reset
 * until the group is closed. As the list grows, timers that are not pending are removed from it; a reset adds them
 * again. So a long-lived group stays small without being closed.
 *
 * <p>All methods may be called by any thread at any time, including callbacks of the group. Calls that arm or reset
 * timers of a group, or of groups within it, wait for each other. Stopping and cancelling do not wait.
 *
 * @since 0.1
 */
public final class TimerGroup extends Armer implements Timers, AutoCloseable {
    /*
     * Each timer that is armed here is cancelled by the close, or rejected. Arming a timer and adding it to the list happen
     * under the lock; a close sets closed under it. So a timer that was armed before the close is in the list. A thread
     * that arms later finds closed set. A timer is removed from the list when it is found not to be pending. Only a reset
     * makes it pending again. The reset also holds the lock, and adds the timer again. A timer that fires and is reset may
     * be in the list twice, until the list is full.
     */

    private static final QueuedNode[] NONE = {};
    private static final int FIRST_LENGTH = 2;

    private final Armer parent;
    /** The parent, or null unless this is a group of a group. */
    private final TimerGroup outer;
    private final String name;
    /** The outermost group, which saves a separate lock object. */
    private final Object lock;
    /** Under the lock. The pending timers, and some that are not pending. */
    private QueuedNode[] members = NONE;
    /** Under the lock. */
    private int size;
    /** Under the lock. */
    private boolean closed;

    TimerGroup(Armer parent, String name) {
        super(parent.timeline);
        this.parent = parent;
        this.outer = parent instanceof TimerGroup group ? group : null;
        this.name = Check.notNull(name, "name");
        this.lock = outer == null ? this : outer.lock;
    }

    /** A timer of a group. Needs no more memory than other timers, because the reference fills an alignment gap. */
    private static final class GroupTimer extends OneShotTimer {
        private final TimerGroup group;

        GroupTimer(TimerGroup group, TimerQueue queue, Runnable task) {
            super(queue, task);
            this.group = group;
        }

        @Override
        public boolean reset(long delay, TimeUnit unit) {
            synchronized (group.lock) {
                group.refuseIfClosed();
                return super.reset(delay, unit) || group.add(this);
            }
        }
    }

    /** A ticker of a group. */
    private static final class GroupTicker extends PeriodicTimer {
        private final TimerGroup group;

        GroupTicker(TimerGroup group, TimerQueue queue, Runnable task, long period, MissedTicks missedTicks) {
            super(queue, task, period, missedTicks);
            this.group = group;
        }

        @Override
        public boolean reset(Duration period) {
            synchronized (group.lock) {
                group.refuseIfClosed();
                return super.reset(period) || group.add(this);
            }
        }
    }

    @Override
    TimerQueue queue() {
        return parent.queue();
    }

    @Override
    OneShotTimer make(TimerQueue queue, Runnable work) {
        return new GroupTimer(this, queue, work);
    }

    @Override
    PeriodicTimer make(TimerQueue queue, Runnable work, long period, MissedTicks missedTicks) {
        return new GroupTicker(this, queue, work, period, missedTicks);
    }

    @Override
    <T extends TimerHandle> T arm(T timer, long deadline) {
        synchronized (lock) {
            refuseIfClosed();
            super.arm(timer, deadline);
            add((QueuedNode) timer);
        }
        return timer;
    }

    @Override
    public Timer timer(Runnable task) {
        synchronized (lock) {
            refuseIfClosed();
        }
        return super.timer(task);
    }

    private void refuseIfClosed() {
        assert Thread.holdsLock(lock);
        if (outer != null) {
            outer.refuseIfClosed();
        }
        if (closed) {
            throw new RejectedExecutionException("the timer group '" + name + "' is closed");
        }
    }

    /** Adds a timer that was armed and was not pending before. Returns false, as the result of a reset. */
    private boolean add(QueuedNode timer) {
        assert Thread.holdsLock(lock);
        try {
            if (size == members.length) {
                prune();
            }
            members[size++] = timer;
            return outer != null && outer.add(timer);
        } catch (Throwable e) { // memory or stack is short: a timer that no close would find must not run
            timer.cancel();
            throw e;
        }
    }

    /** Afterwards at least half of the list is free, so that an arming checks few members on average. */
    private void prune() {
        assert Thread.holdsLock(lock);
        Set<QueuedNode> pending = new HashSet<>();
        for (QueuedNode t : members) {
            if (t.isPending()) {
                pending.add(t);
            }
        }
        members = pending.toArray(new QueuedNode[Math.max(FIRST_LENGTH, 2 * pending.size())]);
        size = pending.size();
    }

    /**
     * Closes the group: cancels its pending timers, including those of groups within it, and rejects new ones. Arming
     * and {@code reset} throw {@link RejectedExecutionException} from then on. Does not wait for callbacks in progress;
     * to wait, call {@link TimerHandle#cancelAndAwait} of each timer. A future with an {@link #orTimeout} of the group
     * completes with a {@link java.util.concurrent.CancellationException}, on the calling thread. If this fails, for
     * example because memory is short, the next call does the rest.
     *
     * @return the number of timers and tickers that this call cancelled; each had a pending firing, which this call
     *     prevented
     */
    public int cancel() {
        QueuedNode[] all;
        int n;
        synchronized (lock) {
            closed = true;
            all = members;
            n = size;
        }
        int cancelled = 0;
        String what = toString(); // may fail, so before anything is cancelled
        for (int i = 0; i < n; i++) { // nothing is added any more
            Runnable work = all[i].work(); // before the cancel, which drops it
            if (all[i].cancel()) {
                cancelled++;
                Engine.completeAbandoned(work, what);
            }
        }
        synchronized (lock) {
            members = NONE;
            size = 0;
        }
        return cancelled;
    }

    /** Same as {@link #cancel()}, for {@code try} statements. Closing again is harmless. */
    @Override
    public void close() {
        cancel();
    }

    /**
     * Returns the name of the group in which a timer was armed. {@code timers.pendingBy(TimerGroup::nameOf)} counts
     * pending timers by group.
     *
     * @param timer any timer
     * @return the name of its innermost group; null if it was not armed in a group, or was made by {@link #schedule}
     * @throws NullPointerException if {@code timer} is null
     */
    public static @Nullable String nameOf(TimerHandle timer) {
        return Check.notNull(timer, "timer") instanceof GroupTimer t ? t.group.name
                : timer instanceof GroupTicker t ? t.group.name : null;
    }

    /** {@return the name, for humans, as a text without a fixed form} */
    @Override
    public String toString() {
        return "TimerGroup[" + name + (outer == null ? "]" : ", of " + outer + "]");
    }
}
