package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.isFiled;
import static io.pendula.internal.queue.TimerNode.isQueued;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Figures of a queue, and walks through its armed timers: for statistics, for people, and for a shutdown. A walk holds
 * the lock for {@link #CHUNK} entries at a time, so that no operation waits for long. Entries that move between two holds
 * would be missed, or met twice. So a walk for people begins anew then; that for a shutdown is told what moves.
 */
public final class QueueView {
    /** The figures of a queue, or of several together, as {@code TimerStats.Queue} explains them. */
    public record Snapshot(long armed, long fired, long stopped, long reset, long unfired, long pending,
            long staleEntries, long heapCapacity, long staleDropped, long stolen, long callerDrains, long nanosUntilNext,
            LatenessHistogram lateness) {
        public static final Snapshot NOTHING =
                new Snapshot(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Long.MAX_VALUE, new LatenessHistogram());

        public Snapshot plus(Snapshot b) {
            return new Snapshot(armed + b.armed, fired + b.fired, stopped + b.stopped, reset + b.reset, unfired + b.unfired,
                    pending + b.pending, staleEntries + b.staleEntries, heapCapacity + b.heapCapacity,
                    staleDropped + b.staleDropped, stolen + b.stolen, callerDrains + b.callerDrains,
                    Math.min(nanosUntilNext, b.nanosUntilNext), lateness.plus(b.lateness));
        }
    }

    private static final int CHUNK = 1024;
    /** So often a walk is begun. The last time it goes on whatever moves. */
    private static final int TRIES = 4;

    private final TimerQueue queue;
    private final HoldLock lock;
    private final EntryQueue entries;

    QueueView(TimerQueue queue) {
        this.queue = queue;
        this.lock = queue.lock;
        this.entries = queue.entries;
    }

    /** Armed timers, not counting those whose next firing awaits the end of their run. */
    public long pending() {
        return stats().pending();
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

    /**
     * The figures, of which those that count never fall. Threads that stop or reset a timer count that in several steps,
     * so the sum of what became of the armings may be more for a moment than it is a step later; and so may stops, while a
     * part of them goes to another word. What was told before stands then, until these threads have counted the rest.
     */
    public Snapshot stats() {
        InboxDrainer drainer = queue.drainer;
        Compactor compactor = queue.compactor;
        DueTimers due = queue.due;
        drainer.drainAll();
        lock.lock();
        try {
            long pending = Math.max(0, drainer.parkedCount + entries.size() - compactor.stale());
            long next = pending == 0 ? Timeline.NEVER : entries.topKey();
            long resets = queue.resets.sum();
            queue.stopsTold = Math.max(queue.stopsTold, drainer.stops + compactor.stops());
            queue.armedTold = Math.max(queue.armedTold,
                    due.fired + queue.stopsTold + resets + queue.closer.unfired + pending);
            return new Snapshot(queue.armedTold, due.fired, queue.stopsTold, resets, queue.closer.unfired, pending,
                    compactor.stale(), entries.capacity(), compactor.swept, due.stolen, drainer.helps,
                    Timeline.between(queue.timeline.now(), next),
                    due.lateness.snapshot());
        } finally {
            lock.unlock();
        }
    }

    /**
     * Hands each armed timer to {@code look}, which is called under the lock, until it says no. Begins anew if entries
     * have moved between two holds, after {@code forget}; but not for ever, as timers may fire all the time.
     *
     * @return false if {@code look} said no
     */
    public boolean forEachPending(Predicate<TimerNode> look, Runnable forget) {
        lock.lock();
        try {
            for (int tries = TRIES; ; tries--) {
                queue.drainer.drainFully();
                Boolean all = walk(look, tries > 1);
                if (all != null) {
                    return all;
                }
                forget.run();
                lock.giveWay();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Null if entries have moved, and that matters. */
    private Boolean walk(Predicate<TimerNode> look, boolean mayBeginAnew) {
        boolean goesOn = queue.drainer.forEach(t -> { // not in slices: what is in these lines is due now
            int s = state(t.wordVolatile());
            return !isQueued(s) || !isArmed(s) || look.test(t);
        });
        int size = entries.size();
        int seq = entries.nextSeq;
        for (int i = 0; goesOn && i < entries.size(); i += CHUNK) {
            lock.giveWay();
            if (mayBeginAnew && (entries.size() != size || entries.nextSeq != seq)) { // what moves or comes takes a number
                return null;
            }
            int end = Math.min(entries.size(), i + CHUNK);
            lock.visit(Math.max(0, end - i));
            // Reads only: to drop what is stale is for others.
            goesOn = entries.forEach(i, end, t -> !isFiled(state(t.wordVolatile())) || look.test(t));
        }
        return goesOn;
    }

    /**
     * Hands each armed timer to {@code look}, under the lock, and misses none that stays armed, whatever moves meanwhile.
     * Some are met twice, and some by the thread that moves their entries. One walk at a time.
     */
    public void forEveryPending(Consumer<TimerNode> look) {
        EntryWalk walk = new EntryWalk(entries.heap, look);
        synchronized (entries) {
            lock.lock();
            try {
                queue.drainer.drainFully();
                entries.walk = walk;
                do {
                    lock.giveWay();
                    lock.visit(entries.walkOn(CHUNK));
                } while (!walk.isOver());
                queue.drainer.drainFully();
                queue.drainer.forEach(t -> {
                    walk.show(t);
                    return true;
                });
            } finally {
                entries.walk = null;
                lock.unlock();
            }
        }
        walk.throwFailure();
    }
}
