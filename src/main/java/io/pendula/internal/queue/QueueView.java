package io.pendula.internal.queue;

import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;

/** Figures of a queue, and walks through its timers: for statistics, and for a shutdown. */
public final class QueueView {
    private final TimerQueue queue;
    private final Timeline timeline;
    private final HoldLock lock;
    private final Intake intake;
    private final Entries entries;
    private final Compactor compactor;
    private final QueueCloser closer;
    private final DueTimers due;
    private final LongAdder resets;

    QueueView(TimerQueue queue) {
        this.queue = queue;
        timeline = queue.timeline;
        lock = queue.lock;
        intake = queue.intake;
        entries = queue.entries;
        compactor = queue.compactor;
        closer = queue.closer;
        due = queue.due;
        resets = queue.resets;
    }

    /** Armed timers, not counting those whose next firing awaits the end of their run. */
    public long pending() {
        lock.lock();
        try {
            intake.drainFully();
            return waiting();
        } finally {
            lock.unlock();
        }
    }

    private long waiting() {
        return Math.max(0, intake.armed() + entries.size() - compactor.staleCounter.stale());
    }

    /** How many timers one hold of the lock has visited at most. */
    public int longestHold() {
        lock.lock();
        try {
            return lock.most();
        } finally {
            lock.unlock();
        }
    }

    public QueueSnapshot stats() {
        lock.lock();
        try {
            intake.drainFully();
            long pending = waiting();
            long stopped = intake.stops + compactor.staleCounter.stops();
            long reset = resets.sum();
            long unfired = closer.unfired();
            long next = pending == 0 ? Timeline.NEVER : due.earliest();
            return new QueueSnapshot(due.fired, stopped, reset, unfired, pending, compactor.staleCounter.stale(),
                    entries.capacity(), compactor.swept(), due.stolen, intake.helps,
                    next == Timeline.NEVER ? Long.MAX_VALUE : Math.max(0, next - timeline.now()), due.lateness.snapshot());
        } finally {
            lock.unlock();
        }
    }

    /** Returns the figures of a queue that is closed or retired, and begins anew from zero. */
    public QueueSnapshot takeFigures() {
        lock.lock();
        try {
            long stopped = intake.stops + compactor.staleCounter.stops();
            long reset = resets.sum();
            long unfired = closer.unfired();
            QueueSnapshot figures = new QueueSnapshot(due.fired, stopped, reset, unfired, 0, 0, 0, compactor.swept(),
                    due.stolen, intake.helps, Long.MAX_VALUE, due.lateness.snapshot());
            due.fired = 0;
            intake.stops -= stopped;
            intake.helps = 0;
            compactor.takeFigures();
            resets.add(-reset);
            closer.takeFigures();
            due.stolen = 0;
            due.lateness.clear();
            return figures;
        } finally {
            lock.unlock();
        }
    }

    /** After takeFigures: what is counted from then on. */
    public LateCounts lateCounts(ReferenceQueue<Object> unreachable) {
        return new LateCounts(queue, resets, compactor.staleCounter, -intake.stops, unreachable);
    }

    /** Looks at what is pending, in slices, until {@code look} says no; false if it did. See PendingWalk. */
    public boolean forEachPending(Predicate<TimerNode> look, Runnable forget) {
        return new PendingWalk(lock, intake, entries, compactor).forEach(look, forget, false);
    }

    /** The same, and misses nothing that is armed and stays so. */
    public void forEveryPending(Predicate<TimerNode> look, Runnable forget) {
        new PendingWalk(lock, intake, entries, compactor).forEach(look, forget, true);
    }
}
