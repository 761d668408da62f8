package io.pendula.internal.queue;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongBinaryOperator;
import java.util.function.ToLongFunction;

/** What tests of the runtime reach inside a queue that the runtime does not. */
public final class Inside {
    public static final int HELP_DEPTH = Inbox.HELP_DEPTH;
    public static final TimerNode CLOSED = Inbox.CLOSED;
    public static final int MAX_VISITS = HoldLock.MAX_VISITS;
    public static final int CALL_EVERY = Compactor.CALL_EVERY;
    public static final long STALE = Compactor.STALE;
    public static final long STOP = Compactor.STOP;

    private Inside() {}

    public static ReentrantLock lock(TimerQueue q) {
        return q.lock;
    }

    public static int entries(TimerQueue q) {
        return q.entries.size();
    }

    /** As if entries had come in no order. */
    public static void restFifo(TimerQueue q) {
        q.entries.rest = 1 << 30;
    }

    public static long topKey(TimerQueue q) {
        return q.entries.topKey();
    }

    public static Object drainer(TimerQueue q) {
        return q.drainer;
    }

    public static Object closer(TimerQueue q) {
        return q.closer;
    }

    public static void checkStack() {
        HoldLock.checkStack();
    }

    // ---- lock held ----

    public static boolean drain(TimerQueue q) {
        return q.drainer.drain();
    }

    public static void drainFully(TimerQueue q) {
        q.drainer.drainFully();
    }

    public static boolean hasMail(TimerQueue q) {
        return q.drainer.hasMail();
    }

    public static boolean claimDue(TimerQueue q, long now, Firing run) {
        return q.due.claimDue(now, run);
    }

    /** As if it had been the queue's owner from the beginning, and were up. */
    public static void transfer(TimerQueue q, QueueOwner to) {
        q.giveTo(to);
        q.gate.ownerIsUp();
    }

    public static void takeUp(TimerQueue q, long helpBefore) {
        q.gate.setHelp(helpBefore);
        q.gate.ownerIsUp();
    }

    public static void setPollUntil(TimerQueue q, long until) {
        q.gate.setPollUntil(until);
    }

    // ---- any thread ----

    public static void wakeIfBefore(TimerQueue q, long when) {
        q.gate.wakeIfBefore(when);
    }

    public static void helpDrain(TimerQueue q) {
        q.drainer.helpDrain();
    }

    public static TimerNode push(TimerQueue q, TimerNode t) {
        return q.inbox.push(t) ? null : Inbox.CLOSED;
    }

    public static int beginReset(TimerQueue q) {
        return q.closer.beginReset();
    }

    public static void endReset(TimerQueue q, int cell) {
        q.closer.endReset(cell);
    }

    /** How many resets a close would wait for. */
    public static int resetsUnderWay(TimerQueue q) {
        ResetCells cells = q.closer.cells;
        int n = 0;
        for (int i = 0; cells != null && i < ResetCells.CELLS; i++) {
            n += cells.get(i);
        }
        return n;
    }

    /** The first step of a close. */
    public static void refuseResets(TimerQueue q) {
        q.closer.closed = true;
    }

    /** How long a close waits for resets that do not go on. */
    public static void setPatience(TimerQueue q, long nanos) {
        q.closer.patienceNanos = nanos;
    }

    /** The count of resets needs memory, and there is none. */
    public static void failToCountResets(TimerQueue q) throws ReflectiveOperationException {
        Field resets = TimerQueue.class.getDeclaredField("resets");
        resets.setAccessible(true);
        resets.set(q, new LongAdder() {
            private static final long serialVersionUID = 1;

            @Override
            public void add(long n) {
                throw new OutOfMemoryError("on purpose");
            }

            @Override
            public void increment() {
                add(1);
            }
        });
    }

    public static TimerNode inboxHead(TimerQueue q) {
        return q.inbox.head();
    }

    public static TimerNode link(TimerNode t) {
        return t.next;
    }

    public static void link(TimerNode t, TimerNode next) {
        t.next = next;
    }

    /** As a reset that has changed the word, and has yet to push. */
    public static boolean tryMove(TimerNode t, long when) {
        return t.tryReset(t.wordVolatile(), when, false);
    }

    public static void beginMoving(TimerNode t, long when) {
        t.beginMoving(when);
    }

    // ---- figures ----

    /** How many threads wait for the end of a run. */
    public static int awaiting(TimerQueue q) {
        return q.awaiters.size();
    }

    public static int stale(TimerQueue q) {
        return q.compactor.stale();
    }

    /** Counts an entry as stale, though none is, and helps to sweep as a stop does. */
    public static void makeStale(TimerQueue q) {
        q.compactor.onEntryStale(q.compactor.count(Compactor.STALE));
    }

    public static int countStale(TimerQueue q, long counts) {
        return q.compactor.count(counts);
    }

    public static void startFullSweep(TimerQueue q) {
        q.lock.lock();
        try {
            q.compactor.startFull();
        } finally {
            q.lock.unlock();
        }
    }

    public static boolean isSweepUnderWay(TimerQueue q) {
        return q.compactor.isUnderWay;
    }

    public static long stopsInInbox(TimerQueue q) {
        return q.drainer.stops;
    }

    public static boolean isMemoryShort(TimerQueue q) {
        return q.lock.scarce;
    }

    public static long helpBefore(TimerQueue q) {
        return q.gate.helpBefore;
    }

    public static long shortageLookNanos() {
        return InboxDrainer.LOOK_NANOS;
    }

    /** Whether a lock is a queue's. */
    public static boolean isQueueLock(Object lock) {
        return lock instanceof HoldLock;
    }

    /** A fingerprint of all entries and their order; {@code keyOf} tells that of a timer. */
    public static long hashEntries(TimerQueue q, ToLongFunction<TimerNode> keyOf, LongBinaryOperator mix) {
        List<Entry> all = all(q.entries);
        long h = all.size();
        for (Entry e : all) {
            long rank = all.stream().filter(other -> other.seq - e.seq < 0).count();
            h = mix.applyAsLong(mix.applyAsLong(mix.applyAsLong(h, e.key), keyOf.applyAsLong(e.node)), rank);
        }
        return h;
    }

    record Entry(long key, int seq, TimerNode node) {}

    /** Those of the heap, then those of the fifo. */
    static List<Entry> all(EntryQueue entries) {
        List<Entry> all = new ArrayList<>();
        for (int i = 0; i < entries.heap.size(); i++) {
            all.add(new Entry(entries.heap.key(i), entries.heap.seq(i), entries.heap.node(i)));
        }
        all.addAll(all(entries.fifo));
        return all;
    }

    static List<Entry> all(EntryFifo fifo) {
        List<Entry> all = new ArrayList<>();
        for (TimerHeap.Chunk c = fifo.head; c != null; c = c.next) {
            for (int i = c.from; i < c.to; i++) {
                all.add(new Entry(c.keys[i], c.seqs[i], c.nodes[i]));
            }
        }
        return all;
    }

    public static boolean isEntries(Object o) {
        return o instanceof EntryQueue;
    }

    public static void assertOrder(TimerQueue q) {
        assertHeapOrder(q.entries.heap);
        assertFifoOrder(q.entries.fifo);
    }

    /** Whether the entries of a fifo come in the order of their keys, and those with equal ones of their numbers. */
    static void assertFifoOrder(EntryFifo fifo) {
        List<Entry> all = all(fifo);
        for (int i = 1; i < all.size(); i++) {
            Entry before = all.get(i - 1);
            Entry e = all.get(i);
            assertTrue(before.key < e.key || before.key == e.key && before.seq - e.seq < 0,
                    () -> e + " comes before the one in front of it, " + before);
        }
    }

    /** Whether each entry of a heap comes no earlier than its parent. */
    static void assertHeapOrder(TimerHeap heap) {
        for (int i = 1; i < heap.size(); i++) {
            int entry = i;
            assertTrue(heap.key(i) >= heap.key((i - 1) >> 2), () -> "entry " + entry + " comes before its parent");
        }
    }
}
