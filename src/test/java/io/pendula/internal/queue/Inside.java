package io.pendula.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongBinaryOperator;
import java.util.function.ToLongFunction;

/** What tests of the runtime reach inside a queue that the runtime does not. */
public final class Inside {
    public static final int HELP_DEPTH = Inbox.HELP_DEPTH;
    public static final TimerNode CLOSED = Inbox.CLOSED;
    public static final int BLOCK = TimerHeap.BLOCK;
    /** What a heap keeps that was large once: a block in use, and the spare ones. */
    public static final int MOST_SLOTS_KEPT = (TimerHeap.SPARE_MIN + 1) * TimerHeap.BLOCK;
    public static final int CALL_EVERY = Compactor.CALL_EVERY;
    public static final long STALE = Compactor.STALE;
    public static final long STOP = Compactor.STOP;

    private Inside() {}

    /** How many stale entries were dropped. */
    public static long swept(TimerQueue q) {
        return q.compactor.swept;
    }

    /** How often a thread that arms has emptied the inbox. */
    public static long helps(TimerQueue q) {
        return q.drainer.helps;
    }

    public static ReentrantLock lock(TimerQueue q) {
        return q.lock;
    }

    public static int entries(TimerQueue q) {
        return q.entries.size();
    }

    /** Whether the next entry needs no memory. */
    public static boolean hasRoom(TimerQueue q) {
        return q.entries.hasRoom();
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

    public static void drain(TimerQueue q) {
        q.drainer.drain();
    }

    public static boolean hasMail(TimerQueue q) {
        return q.drainer.hasMail();
    }

    public static boolean claimDue(TimerQueue q, long now, Firing run) {
        return q.due.claimDue(now, run);
    }

    /** As if it had been the queue's owner from the beginning, and were up. */
    public static void transfer(TimerQueue q, QueueOwner to) {
        q.gate.setOwner(to);
        q.gate.set(WakeGate.AWAKE);
    }

    /** The steps of a poller that has this queue alone: until when it sleeps, or RETRY. */
    public static long prepareToSleep(TimerQueue q, long now) {
        long when = q.due.settle(now);
        if (when == DueTimers.RETRY) {
            return when;
        }
        long until = when == Timeline.NEVER ? when : Math.min(when, DueTimers.endOfLongestSleep(now));
        q.gate.set(until);
        if (q.due.needsLookBefore(until) && !q.compactor.wantsSweep()) { // a sweep is the caller's
            q.gate.set(WakeGate.AWAKE);
            return DueTimers.RETRY;
        }
        return until;
    }

    public static boolean casGate(TimerQueue q, long expected, long lookAt) {
        return q.gate.cas(expected, lookAt);
    }

    // ---- any thread ----

    /** Until when its owner needs no call. */
    public static long looksAgain(TimerQueue q) {
        return q.gate.lookAt();
    }

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

    /** A queue alone, with a heap and a count that may lack memory. */
    public static TimerQueue newQueue(Timeline timeline, TimerHeap heap, PendingLimit limit, boolean keepOrder,
            LongAdder resets) {
        return new TimerQueue(0, timeline, null, heap, limit, keepOrder, new WakeGate(), resets);
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

    public static void beginMoving(TimerNode t, long when) {
        t.beginMoving(when);
    }

    // ---- figures ----

    /** How many threads wait for the end of a run. */
    public static int awaiting(TimerQueue q) {
        int n = 0;
        for (RunAwaiter a = q.awaiters; a != null; a = a.next) {
            n++;
        }
        return n;
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

    /** As if memory had been short, and were not any more. */
    public static void endShortage(TimerQueue q) {
        q.drainer.unreported = new OutOfMemoryError("meant");
    }

    public static boolean isMemoryShort(TimerQueue q) {
        return q.lock.scarce;
    }

    public static long shortageLookNanos() {
        return InboxDrainer.LOOK_NANOS;
    }

    /** Whether that is the lock of the queue, or its entries. */
    public static boolean guards(TimerQueue q, Object o) {
        return o == q.lock || o == q.entries;
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

    /** Block by block, from the oldest on. */
    static List<Entry> all(TimerHeap heap) {
        List<Entry> all = new ArrayList<>();
        for (Block b : blocks(heap)) {
            for (int i = b.from; i < b.to; i++) {
                all.add(new Entry(b.keys[i], b.seqs[i], b.nodes[i]));
            }
        }
        return all;
    }

    /** The timers of all entries, live or stale. */
    public static List<TimerNode> timers(TimerHeap heap) {
        return all(heap).stream().map(Entry::node).toList();
    }

    /** From the oldest on. */
    static List<Block> blocks(TimerHeap heap) {
        List<Block> blocks = new ArrayList<>();
        for (Block b = heap.head; b != null; b = b.next) {
            blocks.add(b);
        }
        return blocks;
    }

    /** Whether all entries lie in blocks that are runs, so in the order of their deadlines. */
    public static boolean areRuns(TimerQueue q) {
        return blocks(q.entries).stream().allMatch(Block::isRun);
    }

    // ---- the whole structure ----

    /**
     * What must hold between two operations of one thread: the structure of the heap, what its entries say of timers and
     * what timers say of entries, the count of stale entries, and the lists of timers that are not filed.
     */
    public static void verify(TimerQueue q) {
        verifyEntries(q);
        int stale = 0;
        Set<TimerNode> filed = new HashSet<>();
        for (Entry e : all(q.entries)) {
            long w = e.node.wordVolatile();
            int s = TimerNode.state(w);
            boolean isLive = TimerNode.isFiled(s) && e.node.entry == e.seq;
            stale += isLive ? 0 : 1;
            if (isLive) {
                assertTrue(filed.add(e.node), "a timer with two live entries");
                boolean isInPlace = s == TimerNode.WAITING;
                assertTrue(isInPlace ? e.key == TimerNode.deadline(w) : e.key <= TimerNode.deadline(w),
                        () -> "an entry of " + e.key + " for " + TimerNode.deadline(w) + " in state " + s);
            }
        }
        assertEquals(stale, q.compactor.stale(), "entries that are stale, and what is counted");
        Set<TimerNode> queued = new HashSet<>();
        addQueued(q.inbox.isClosed() ? null : q.inbox.head(), queued);
        addQueued((TimerNode) get(q.drainer, "backlog"), queued);
        int before = queued.size();
        addQueued((TimerNode) get(q.drainer, "parked"), queued);
        assertEquals(q.drainer.parkedCount, queued.size() - before, "timers that are parked, and what is counted");
        queued.forEach(t -> assertTrue(TimerNode.isQueued(TimerNode.state(t.wordVolatile())),
                () -> "in line in state " + TimerNode.state(t.wordVolatile())));
    }

    private static void addQueued(TimerNode first, Set<TimerNode> all) {
        for (TimerNode t = first; t != null; t = t.next) {
            assertTrue(all.add(t), "a timer is twice in line");
        }
    }

    /** The structure of the heap alone. */
    public static void verifyEntries(TimerQueue q) {
        verify(q.entries);
    }

    /** Each block is a run or a heap, and so are the blocks; links, ages, places, numbers and sums agree. */
    static void verify(TimerHeap heap) {
        Map<Integer, Block> places = new HashMap<>();
        Map<TimerNode, Integer> numbers = new HashMap<>();
        int size = 0;
        int capacity = 0;
        Block before = null;
        List<Block> blocks = blocks(heap);
        for (Block b : blocks) {
            assertSame(before, b.prev);
            assertTrue(before == null || before.age - b.age < 0, "ages rise");
            assertTrue(b.size() > 0 || blocks.size() == 1, "an empty block is not linked");
            assertEquals(b.size() > 0, b.place > 0, "a block is in the heap if it is not empty");
            assertTrue(b.place == 0 || places.put(b.place, b) == null, "one block at a place");
            verify(b, heap.nextSeq, numbers);
            size += b.size();
            capacity += b.capacity();
            before = b;
        }
        assertSame(before, get(heap, "tail"), "the youngest block");
        assertEquals(heap.size(), size);
        assertTrue(heap.capacity() >= size);
        verifyPlaces(heap, places);
        List<Object> visited = new ArrayList<>(Collections.singleton(get(heap, "swept")));
        for (Object walk = get(heap, "walks"); walk != null; walk = get(walk, "next")) {
            visited.add(get(walk, "visited"));
        }
        for (Object b : visited) {
            assertTrue(b == null || blocks.stream().anyMatch(other -> other == b), "a sweep or walk is at no block in use");
        }
        int spares = 0;
        for (Block b = (Block) get(heap, "spare"); b != null; b = b.next) {
            assertEquals(0, b.size(), "a spare block has entries");
            assertEquals(0, b.place, "a spare block is in the heap");
            assertTrue(Arrays.stream(b.nodes).allMatch(Objects::isNull), "a spare block keeps a timer alive");
            capacity += b.capacity();
            spares++;
        }
        assertEquals(get(heap, "spares"), spares);
        assertEquals(heap.capacity(), capacity);
    }

    /** The heap of blocks, with the first entry of each. */
    private static void verifyPlaces(TimerHeap heap, Map<Integer, Block> places) {
        Block[] blocks = (Block[]) get(heap, "blocks");
        long[] keys = (long[]) get(heap, "keys");
        int[] seqs = (int[]) get(heap, "seqs");
        int end = (int) get(heap, "end");
        assertEquals(end - Block.ROOT, places.size(), "places");
        for (int i = 0; i < blocks.length; i++) {
            Block b = places.get(i);
            assertSame(b, blocks[i], "the block at its place");
            if (b == null) {
                continue;
            }
            int place = i;
            assertTrue(keys[i] == b.key() && seqs[i] == b.seq(), () -> "the first entry of the block at " + place);
            int above = (i >> 2) + 2;
            assertTrue(i == Block.ROOT || Block.before(keys[above], seqs[above], keys[i], seqs[i]),
                    "a block comes before its parent");
            assertTrue(i != Block.ROOT || heap.topKey() == b.key() && heap.topSeq() == b.seq(), "the top");
        }
    }

    private static void verify(Block b, int nextSeq, Map<TimerNode, Integer> numbers) {
        assertTrue(b.isRun() || b.from == Block.ROOT);
        for (int i = b.from; i < b.to; i++) {
            int entry = i;
            if (i > b.from) {
                int above = b.isRun() ? i - 1 : (i >> 2) + 2;
                assertTrue(Block.before(b.keys[above], b.seqs[above], b.keys[i], b.seqs[i]),
                        () -> "entry " + entry + " comes before the one above");
            }
            assertTrue(b.seqs[i] - nextSeq < 0, "a number that is yet to be given");
            if (b.nodes[i].entry == b.seqs[i]) {
                assertNull(numbers.put(b.nodes[i], b.seqs[i]), "two entries with the number that their timer has noted");
            }
        }
        for (int i = 0; i < b.nodes.length; i++) {
            assertEquals(i >= b.from && i < b.to, b.nodes[i] != null, "a freed slot keeps its timer alive");
        }
    }

    private static Object get(Object of, String field) {
        Class<?> c = of instanceof TimerHeap ? TimerHeap.class : of.getClass();
        try {
            Field f = c.getDeclaredField(field);
            f.setAccessible(true);
            return f.get(of);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
