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
 * Figures of a queue, and walks through its armed timers: for statistics, for people, and for a shutdown. A walk holds
 * the lock for a {@link Block} of entries at a time, so that no operation waits for long.
 */
public final class QueueView {
    /** What is counted by queue; the rows of {@code QueueStats} say what each is. */
    public enum Count {
        ARMED(v -> v.queue.armedTold), FIRED(v -> v.queue.due.fired), STOPPED(v -> v.queue.stopsTold), RESETS(v -> v.resets),
        UNFIRED(v -> v.queue.closer.unfired), PENDING(v -> v.pending), STALE_ENTRIES(v -> v.queue.compactor.stale()),
        HEAP_CAPACITY(v -> v.entries.capacity()), STOLEN(v -> v.queue.due.stolen),
        /** Of several queues, that of the first. */
        NANOS_UNTIL_NEXT(v -> Timeline.between(v.queue.timeline.now(), v.next));

        private final ToLongFunction<QueueView> source;

        Count(ToLongFunction<QueueView> source) {
            this.source = source;
        }
    }

    /** The figures of a queue, or of several together. */
    public record Snapshot(long[] counts, LatenessHistogram lateness) {
        public long get(Count count) {
            return counts[count.ordinal()];
        }

        /** Of no queue. */
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
    // What stats() takes together. Of the thread that has made this view.
    private long pending;
    private long resets;
    private long next;

    QueueView(TimerQueue queue) {
        this.queue = queue;
        this.lock = queue.lock;
        this.entries = queue.entries;
    }

    /** Armed timers, not counting those whose next firing awaits the end of their run. */
    public long pending() {
        return stats().get(Count.PENDING);
    }

    /**
     * The figures, of which those that count never fall. Threads that stop or reset a timer count that in several steps,
     * so the sum of what became of the armings may be more for a moment than it is a step later; and so may stops, while a
     * part of them goes to another word. What was told before stands then, until these threads have counted the rest.
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
     * Hands each armed timer to {@code look}, under no lock, until it says no. Misses none that neither fires nor is stopped
     * or reset meanwhile, and hands each over once if nothing happens; one that is filed anew meanwhile may come twice.
     *
     * <p>Goes from the oldest block to the youngest. An entry goes to another block together with all others of its own, and
     * then the one that takes them has the age of the younger; or alone, to the youngest. There goes, too, what was in the inbox
     * or parked for want of memory. So the walk drains before it visits the youngest block, and takes what is parked in the
     * same hold as that.
     *
     * @return false if {@code look} said no
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
                    lock.enter(); // whatever has failed
                }
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Takes the armed timers of the next block, which it returns. Reads only: to drop what is stale is for others. */
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
        if (b.next == null) { // in this hold: else what is parked could be filed here before it is looked at
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
