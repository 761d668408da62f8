package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.isFiled;
import static io.pendula.internal.queue.TimerNode.isQueued;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Figures of a queue, and walks through its armed timers: for statistics, for people, and for a shutdown. A walk holds
 * the lock for a {@link Block} of entries at a time, so that no operation waits for long.
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

    private final TimerQueue queue;
    private final HoldLock lock;
    private final TimerHeap entries;

    QueueView(TimerQueue queue) {
        this.queue = queue;
        this.lock = queue.lock;
        this.entries = queue.entries;
    }

    /** Armed timers, not counting those whose next firing awaits the end of their run. */
    public long pending() {
        return stats().pending();
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
     * Hands each armed timer to {@code look}, under no lock, until it says no. Misses none that neither fires nor is stopped
     * or reset meanwhile, and hands each over once if nothing happens; one that is filed anew meanwhile may come twice.
     *
     * <p>Goes from the oldest block to the youngest. An entry goes to another block together with all others of its own, and
     * then not across the place that the walk has reached; or alone, to the youngest. There goes, too, what was in the inbox
     * or parked for want of memory, and only from there a timer is parked. So the walk drains before it visits the youngest
     * block, and takes what is parked in the same hold as that.
     *
     * @return false if {@code look} said no
     */
    public boolean forEachPending(Predicate<TimerNode> look) {
        List<TimerNode> found = new ArrayList<>(TimerHeap.BLOCK);
        TimerHeap.Walk walk = new TimerHeap.Walk();
        lock.lock();
        entries.beginWalk(walk);
        try {
            for (boolean isLast = false; !isLast; found.clear()) {
                lock.giveWay();
                isLast = gather(walk, found);
                lock.unlock();
                try {
                    for (TimerNode t : found) {
                        if (!look.test(t)) {
                            return false;
                        }
                    }
                } finally {
                    lock.enter(); // whatever has failed
                }
            }
            return true;
        } finally {
            entries.endWalk(walk);
            lock.unlock();
        }
    }

    /** Takes the armed timers of the next block; true if it is the last one. Reads only: to drop what is stale is for others. */
    private boolean gather(TimerHeap.Walk walk, List<TimerNode> found) {
        assert lock.isHeldByCurrentThread();
        if (entries.isLast(walk)) {
            queue.drainer.drain();
        }
        Block b = entries.walkOn(walk);
        b.forEach(t -> {
            if (isFiled(state(t.wordVolatile()))) {
                found.add(t);
            }
        });
        if (b.next != null) {
            return false;
        }
        queue.drainer.forEach(t -> { // in this hold: else what is parked could be filed here before it is looked at
            int s = state(t.wordVolatile());
            if (isQueued(s) && isArmed(s)) {
                found.add(t);
            }
        });
        return true;
    }
}
