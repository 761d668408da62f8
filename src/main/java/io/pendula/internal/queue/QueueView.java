package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.isFiled;
import static io.pendula.internal.queue.TimerNode.isQueued;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * Statistics of a queue, and walks through its armed timers for listings and a shutdown. A walk holds the lock for one
 * {@link Block} of entries at a time, so that no operation waits for long.
 */
public final class QueueView {
    /** The counts of a queue. The rows of {@code QueueStats} explain them. */
    public enum Count {
        ARMED(v -> v.queue.armedTold), FIRED(v -> v.queue.due.fired), STOPPED(v -> v.queue.stopsTold), RESETS(v -> v.resets),
        UNFIRED(v -> v.queue.closer.unfired), PENDING(v -> v.pending), STALE_ENTRIES(v -> v.queue.compactor.stale()),
        HEAP_CAPACITY(v -> v.entries.capacity()), STOLEN(v -> v.queue.due.stolen),
        /** For several queues, the smallest. */
        NANOS_UNTIL_NEXT(v -> Timeline.between(v.queue.timeline.now(), v.next));

        private final ToLongFunction<QueueView> source;

        Count(ToLongFunction<QueueView> source) {
            this.source = source;
        }
    }

    /** The statistics of one queue, or of several together. */
    public record Snapshot(long[] counts, LatenessHistogram lateness) {
        public long get(Count count) {
            return counts[count.ordinal()];
        }

        public static Snapshot nothing() {
            return new Snapshot(counts(c -> c == Count.NANOS_UNTIL_NEXT ? Long.MAX_VALUE : 0), new LatenessHistogram());
        }

        public Snapshot plus(Snapshot b) {
            return new Snapshot(counts(c -> c == Count.NANOS_UNTIL_NEXT ? Math.min(get(c), b.get(c)) : get(c) + b.get(c)),
                    lateness.plus(b.lateness));
        }

        private static long[] counts(ToLongFunction<Count> each) {
            long[] counts = new long[Count.values().length];
            for (Count c : Count.values()) {
                counts[c.ordinal()] = each.applyAsLong(c);
            }
            return counts;
        }
    }

    private final TimerQueue queue;
    private final HoldLock lock;
    private final TimerHeap entries;
    // Set by stats() in one hold of the lock. Used only by the thread that has made this view.
    private long pending;
    private long resets;
    private long next;

    QueueView(TimerQueue queue) {
        this.queue = queue;
        this.lock = queue.lock;
        this.entries = queue.entries;
    }

    /** The number of armed timers, except those whose next firing waits for the end of their run. */
    public long pending() {
        return stats().get(Count.PENDING);
    }

    /**
     * The statistics. Counts of events never fall. A thread that stops or resets a timer counts this in several steps.
     * So the sum for armings may be too high for a moment, and lower a step later. So may stops while some are folded
     * into another word. In both cases this returns the last reported value until the other threads have counted the
     * rest.
     */
    public Snapshot stats() {
        InboxDrainer drainer = queue.drainer;
        Compactor compactor = queue.compactor;
        drainer.drainAll();
        lock.lock();
        try {
            pending = Math.max(0, entries.size() - compactor.stale());
            drainer.forEach(t -> pending++);
            next = pending == 0 ? Timeline.NEVER : entries.topKey();
            resets = queue.resets.sum();
            queue.stopsTold = Math.max(queue.stopsTold, drainer.stops + compactor.stops());
            queue.armedTold = Math.max(queue.armedTold,
                    queue.due.fired + queue.stopsTold + resets + queue.closer.unfired + pending);
            return new Snapshot(Snapshot.counts(c -> c.source.applyAsLong(this)), queue.due.lateness.snapshot());
        } finally {
            lock.unlock();
        }
    }

    /**
     * Passes each armed timer to {@code look}, under no lock, until it returns false. Misses no timer, except those
     * that fire or are stopped or reset meanwhile. If the heap does not change, passes each timer once. Otherwise it may
     * pass a timer twice, for instance one that is filed again.
     *
     * <p>The walk goes from the oldest block to the youngest. An entry changes its block in two ways. Either all entries of
     * its block move to another block, which then has the age of the younger block. Or the entry alone moves to the youngest
     * block. Timers from the inbox and parked timers are filed there, too. So the walk drains before it visits the youngest
     * block, and reads the parked timers in the same hold. If the youngest block empties, the one before takes new entries
     * again. Then it gets the age of the former, so that the walk visits it again.
     *
     * @return false if {@code look} returned false
     */
    public boolean forEachPending(Predicate<TimerNode> look) {
        List<TimerNode> found = new ArrayList<>(TimerHeap.BLOCK);
        lock.lock();
        try {
            int age = entries.head.age - 1;
            for (boolean isLast = false; !isLast; found.clear()) {
                lock.giveWay();
                Block b = gather(age, found);
                age = b.age;
                isLast = b.next == null;
                lock.unlock();
                try {
                    for (TimerNode t : found) {
                        if (!look.test(t)) {
                            return false;
                        }
                    }
                } finally {
                    lock.enter(); // after an exception, too
                }
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Adds the armed timers of the next block to {@code found}, and returns the block. Drops no stale entries. */
    private Block gather(int age, List<TimerNode> found) {
        assert lock.isHeldByCurrentThread();
        if (entries.after(age).next == null) {
            queue.drainer.drain();
        }
        Block b = entries.after(age);
        b.forEach(t -> {
            if (isFiled(state(t.wordVolatile()))) {
                found.add(t);
            }
        });
        if (b.next == null) { // in this hold: otherwise a drain could file parked timers here, unseen by the walk
            queue.drainer.forEach(t -> {
                int s = state(t.wordVolatile());
                if (isQueued(s) && isArmed(s)) {
                    found.add(t);
                }
            });
        }
        return b;
    }
}
