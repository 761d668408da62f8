package io.pendula.internal.queue;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;

/** Figures of a queue, and walks through its timers: for statistics, and for a shutdown. */
public final class QueueView {
    private final Timeline timeline;
    private final HoldLock lock;
    private final Intake intake;
    private final Entries entries;
    private final Compactor compactor;
    private final QueueCloser closer;
    private final DueTimers due;
    private final LongAdder resets;

    QueueView(TimerQueue queue) {

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
            intake.drainAndLook();
            return waiting();
        } finally {
            lock.unlock();
        }
    }

    private long waiting() {
        return Math.max(0, intake.parkedCount() + entries.size() - compactor.staleCounter.stale());
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
            intake.drainAndLook();
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

    /** Looks at what is pending, in slices, until {@code look} says no; false if it did. See PendingWalk. */
    public boolean forEachPending(Predicate<TimerNode> look, Runnable forget) {
        return new PendingWalk(lock, intake, entries, compactor).forEach(look, forget, false);
    }

    /** The same, and misses nothing that is armed and stays so. */
    public void forEveryPending(Predicate<TimerNode> look, Runnable forget) {
        new PendingWalk(lock, intake, entries, compactor).forEach(look, forget, true);
    }
}
