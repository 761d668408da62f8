package io.pendula.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.HashSet;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EntryQueueTest {
    /** After so many entries in no order the fifo rests. */
    private static final int TRIAL = 1024;

    private static final class Node extends TimerNode {
        Node() {
            super(null);
        }
    }

    /** Entries beside a sorted set; every operation is done to both. */
    private static final class Pair {
        final LimitedHeap heap = new LimitedHeap();
        final EntryQueue entries = new EntryQueue(heap);
        final Compactor compactor = new Compactor(entries, new HoldLock(), new WakeGate(), 1);
        final SortedModel model = new SortedModel();
        private final Set<TimerNode> shown = new HashSet<>();
        private Set<TimerNode> staying = Set.of();
        private int walks;

        private static TimerNode filed() {
            Node node = new Node();
            node.beginMoving(1);
            node.tryFile(node.wordVolatile());
            return node;
        }

        TimerNode push(long key) {
            TimerNode node = filed();
            heap.ensureRoom();
            entries.push(key, node);
            model.add(key, node);
            return node;
        }

        void pushToHeap(long key) {
            TimerNode node = filed();
            node.entry = entries.nextSeq;
            heap.push(key, entries.nextSeq++, node);
            model.add(key, node);
        }

        void pop() {
            model.forgetFirst();
            entries.pop();
        }

        void removeLast() {
            model.forget(entries.last());
            entries.removeLast();
        }

        void rekeyTop(long key) {
            TimerNode node = entries.top();
            if (entries.isTopInFifo()) {
                heap.ensureRoom();
            }
            entries.rekeyTop(key);
            model.forget(node);
            model.add(key, node);
        }

        /** Goes on with a sweep, which drops each entry for which the dice say so; begins one if none is under way. */
        void sweep(int visits, Random rnd, int dropOneIn) {
            if (entries.isSwept()) {
                compactor.rewind();
            }
            Set<TimerNode> before = new HashSet<>();
            for (Inside.Entry e : Inside.all(entries)) {
                if (rnd.nextInt(dropOneIn) == 0) {
                    e.node().entry--; // so it is stale
                    before.add(e.node());
                }
            }
            entries.sweep(compactor, visits, Integer.MAX_VALUE);
            for (Inside.Entry e : Inside.all(entries)) {
                if (before.remove(e.node())) {
                    e.node().entry++;
                }
            }
            before.forEach(model::forget);
        }

        /** One of all operations; returns the time after it. */
        long operate(Random rnd, boolean growing, long now, LongUnaryOperator delay) {
            int dice = rnd.nextInt(40);
            if (model.isEmpty() || dice < (growing ? 24 : 14)) {
                push(now + delay.applyAsLong(0));
            } else if (dice < 33) {
                long then = Math.max(now, entries.topKey());
                pop();
                return then;
            } else if (dice < 36) {
                sweep(rnd.nextInt(1 + entries.size() / 3), rnd, 1 + rnd.nextInt(20));
            } else if (dice < 39) {
                rekeyTop(entries.topKey() + 1 + delay.applyAsLong(0));
            } else {
                removeLast();
            }
            return now;
        }

        /** Goes on with a walk, which must show all that stay; then begins one. */
        void walkOn(int visits) {
            if (entries.walk != null) {
                assertTrue(entries.walkOn(visits) <= visits);
                if (entries.walk.isOver()) {
                    staying.removeIf(t -> !model.has(t));
                    staying.removeAll(shown);
                    assertEquals(Set.of(), staying, "walk " + walks + " has missed timers");
                    entries.walk = null;
                    walks++;
                }
            }
            if (entries.walk == null) {
                shown.clear();
                staying = new HashSet<>(model.nodes());
                entries.walk = new EntryWalk(entries.heap, shown::add);
            }
        }

        void check() {
            model.check(entries.size(), entries.topKey(), entries.top());
        }

        /** By number, each entry once. */
        void checkAll() {
            Set<TimerNode> met = new HashSet<>();
            for (Inside.Entry e : Inside.all(entries)) {
                assertEquals(model.keyOf(e.node()), e.key());
                assertTrue(met.add(e.node()), "two entries for one timer");
            }
            assertEquals(entries.size(), met.size());
            Set<TimerNode> shown = new HashSet<>();
            for (int i = 0; i < entries.size(); i += 700) {
                entries.forEach(i, Math.min(i + 700, entries.size()), t -> assertTrueThen(shown.add(t)));
            }
            assertEquals(met, shown);
            Inside.assertHeapOrder(entries.heap);
            Inside.assertFifoOrder(entries.fifo);
            assertTrue(entries.fifo.capacity() >= entries.fifo.size());
            assertEquals(entries.fifo.size(), timersKeptBy(entries.fifo), "a freed slot keeps its node alive");
        }

        private static boolean assertTrueThen(boolean b) {
            assertTrue(b, "shown twice");
            return true;
        }

        void popAll() {
            while (!model.isEmpty()) {
                check();
                pop();
            }
            check();
        }
    }

    private static long timersKeptBy(EntryFifo fifo) {
        try {
            Field spare = EntryFifo.class.getDeclaredField("spare");
            spare.setAccessible(true);
            return Stream.of(fifo.head, (TimerHeap.Chunk) spare.get(fifo))
                    .flatMap(first -> Stream.iterate(first, Objects::nonNull, c -> c.next))
                    .flatMap(c -> Stream.of(c.nodes)).filter(Objects::nonNull).count();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static Pair inOrder(int entries) {
        Pair p = new Pair();
        for (int i = 0; i < entries; i++) {
            p.push(1_000 + 10L * i);
        }
        return p;
    }

    /** Delays as they come: random, one, or a few that are mixed, so that both parts are in use. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void randomOperations_delaysOfAllKinds_matchSortedSet(int seed) {
        Random rnd = new Random(seed);
        LongUnaryOperator[] delays = {
            any -> rnd.nextInt(1 << 20), any -> 30_000, any -> rnd.nextInt(50) == 0 ? 1_000_000 : 30_000,
            any -> rnd.nextBoolean() ? 30_000 : 60_000, any -> rnd.nextInt(3), any -> 20_000 + rnd.nextInt(8)};
        Pair p = new Pair();
        p.entries.nextSeq = seed % 2 == 0 ? 0 : Integer.MAX_VALUE - 10_000; // which wraps around on the way
        long now = 0;
        boolean usedBoth = false;
        for (int i = 0; i < 60_000; i++) {
            LongUnaryOperator delay = delays[i / 2_500 % delays.length];
            boolean growing = (i / 6_000 & 1) == 0;
            if (i % 2_500 == 0) {
                p.entries.rest = 0;
            }
            now = p.operate(rnd, growing, now, delay) + 1;
            p.check();
            p.walkOn(rnd.nextInt(60));
            usedBoth |= p.entries.heap.size() > 40 && p.entries.fifo.size() > 40;
            if (i % 500 == 0) {
                p.checkAll();
            }
        }
        assertTrue(usedBoth, "both parts must have been in use");
        assertTrue(p.walks > 50, p.walks + " walks");
        p.popAll();
    }

    @Test
    void push_inOrder_heapStaysSmall() {
        Pair p = inOrder(100_000);
        assertEquals(0, p.entries.heap.size());
        assertTrue(p.entries.capacity() < 100_000 + 2 * EntryFifo.CHUNK, p.entries.capacity() + " slots");
        p.checkAll();
        p.popAll();
        assertTrue(p.entries.fifo.capacity() <= 6 * EntryFifo.CHUNK, p.entries.fifo.capacity() + " slots");
    }

    /** As by several threads that arm timers with the same delay. */
    @Test
    void push_nearlyInOrder_heapStaysSmall() {
        Pair p = inOrder(EntryFifo.MANY);
        Random rnd = new Random(5);
        for (int i = 0; i < 20_000; i++) {
            p.push(10_000 + 10L * i - rnd.nextInt(10 * EntryFifo.NEAR));
        }
        assertEquals(0, p.entries.heap.size());
        p.checkAll();
        p.popAll();
    }

    /** Those that belong in front of many go to the heap. */
    @Test
    void push_inNoOrder_fifoStaysSmall() {
        Pair p = new Pair();
        Random rnd = new Random(6);
        for (int i = 0; i < 20_000; i++) {
            p.push(rnd.nextInt(1 << 30));
        }
        assertTrue(p.entries.fifo.size() < EntryFifo.MANY, p.entries.fifo.size() + " in the fifo");
        p.checkAll();
        p.popAll();
    }

    /** A few timers a day ahead, and all others 30 seconds: these must not go to the heap for a day. */
    @Test
    void push_fewFarAhead_othersStayInTheFifo() {
        Pair p = inOrder(200);
        for (int i = 0; i < 2 * EntryFifo.NEAR; i++) {
            p.push(1_000_000);
        }
        int before = p.entries.heap.size();
        for (int i = 0; i < 1_000; i++) {
            p.push(5_000 + i);
        }
        assertTrue(p.entries.heap.size() <= before + 2 * EntryFifo.NEAR, p.entries.heap.size() + " in the heap");
        p.popAll();
    }

    /** Where most went to the heap after all, the fifo is not tried for a while. */
    @Test
    void push_inNoOrder_fifoIsGivenARest() {
        Pair p = new Pair();
        Random rnd = new Random(7);
        for (int i = 0; i < 2 * TRIAL; i++) {
            p.push(rnd.nextInt(1 << 30));
        }
        int before = p.entries.fifo.size();
        for (int i = 0; i < EntryQueue.REST - 2 * TRIAL; i++) {
            p.push((2L << 30) + i);
        }
        assertEquals(before, p.entries.fifo.size(), "it rests");
        for (int i = 0; i < 3 * TRIAL; i++) {
            p.push((3L << 30) + i);
        }
        assertTrue(p.entries.fifo.size() > before + TRIAL / 2, p.entries.fifo.size() + " in the fifo");
        p.checkAll();
        p.popAll();
    }

    /** Of two delays in turn one stays in the fifo. */
    @Test
    void push_twoDelaysInTurn_fifoTakesOne() {
        Pair p = inOrder(1);
        for (int i = 0; i < 20_000; i++) {
            p.push(10_000 + i + (i & 1) * 5_000);
        }
        assertTrue(p.entries.fifo.size() > 9_000, p.entries.fifo.size() + " in the fifo");
        p.popAll();
    }

    @Test
    void popAndPush_oneDelay_needsNoMemory() {
        Pair p = inOrder(2_000);
        long key = 100_000;
        for (int i = 0; i < 5_000; i++) {
            p.push(key++);
            p.pop();
        }
        p.heap.exhausted = true;
        int inHeap = p.heap.size();
        assertTrue(inHeap + 1 < p.heap.capacity());
        for (int i = 0; i < 20_000; i++) {
            p.push(key++);
            p.pop();
            assertEquals(inHeap, p.heap.size(), "the fifo has found no room");
        }
        p.checkAll();
        assertTrue(p.entries.fifo.capacity() < 4_000 + 4 * EntryFifo.CHUNK, p.entries.fifo.capacity() + " slots");
    }

    @Test
    void sweep_halfDropped_keepsTheOrderAndTheHeapSmall() {
        Pair p = inOrder(3_000);
        int inHeap = p.heap.size();
        p.sweep(3 * EntryFifo.CHUNK, new Random(1), 2);
        p.checkAll();
        assertTrue(p.entries.size() < 2_400, "half of them were dropped");
        assertTrue(p.entries.fifo.isUnswept());
        for (int i = 0; i < 500; i++) {
            p.push(40_000 + i);
        }
        p.checkAll();
        for (int i = 0; i < 1_200; i++) {
            p.pop();
            p.check();
        }
        p.sweep(200, new Random(2), 3);
        assertTrue(p.heap.size() <= inHeap, "what lives stays in the fifo");
        while (p.entries.fifo.size() > 100) {
            p.removeLast();
            p.check();
        }
        p.checkAll();
        p.popAll();
    }

    /** Each stale entry goes in one round, and no entry is moved to the heap. */
    @ParameterizedTest
    @ValueSource(ints = {512, 1_000, 1_024, 100_000})
    void sweep_inSlices_dropsAllAndKeepsTheOrder(int slice) {
        Pair p = inOrder(5_000);
        int inHeap = p.heap.size();
        int live = 0;
        for (Inside.Entry e : Inside.all(p.entries)) {
            if (e.seq() % 3 != 0) {
                e.node().entry--;
            } else {
                live++;
            }
        }
        while (!p.entries.isSwept()) {
            p.entries.sweep(p.compactor, slice, Integer.MAX_VALUE);
        }
        assertEquals(live, p.entries.size());
        assertTrue(p.heap.size() <= inHeap);
        Inside.assertFifoOrder(p.entries.fifo);
        Inside.assertHeapOrder(p.heap);
        long last = 0;
        for (; p.entries.size() > 0; p.entries.pop()) {
            assertTrue(p.entries.topKey() > last);
            last = p.entries.topKey();
        }
        assertTrue(p.entries.fifo.capacity() <= 6 * EntryFifo.CHUNK, p.entries.fifo.capacity() + " slots");
    }

    /** As for want of stack: in the middle of each chunk in turn. What it has met may be there twice, once as a stale entry. */
    @Test
    void sweep_breaksOffInAChunk_losesNoEntry() {
        Pair p = new Pair();
        Set<TimerNode> live = new HashSet<>();
        int count = 3 * EntryFifo.CHUNK;
        for (int key = 1; key <= count; key++) {
            TimerNode node = key % 100 == 0 ? new BrokenOnce() : new Node();
            node.beginMoving(1);
            node.tryFile(node.wordVolatile());
            p.heap.ensureRoom();
            p.entries.push(key, node);
            if (key % 3 == 0) {
                node.entry--; // so it is stale
            } else {
                live.add(node);
            }
        }
        int errors = 0;
        for (p.compactor.rewind(); !p.entries.isSwept(); ) {
            try {
                p.entries.sweep(p.compactor, count, Integer.MAX_VALUE);
            } catch (StackOverflowError e) {
                errors++;
                Set<TimerNode> left = new HashSet<>();
                Inside.all(p.entries).forEach(entry -> left.add(entry.node()));
                assertTrue(left.containsAll(live), "lost an entry");
                assertEquals(p.entries.size(), Inside.all(p.entries).size());
                Inside.assertHeapOrder(p.heap);
            }
        }
        assertTrue(errors > 3, errors + " errors");
        for (; p.entries.size() > 0; p.entries.pop()) {
            live.remove(p.entries.top());
        }
        assertEquals(Set.of(), live);
    }

    /** Fails once, at the second look. */
    private static final class BrokenOnce extends TimerNode {
        private boolean isBroken = true;
        private int looks;

        BrokenOnce() {
            super(null);
        }

        @Override
        public long wordVolatile() {
            if (++looks > 1 && isBroken) {
                isBroken = false;
                throw new StackOverflowError("on purpose");
            }
            return super.wordVolatile();
        }
    }

    /** The first of all lives for long, and many that come behind it are stopped: the slots in between are used again. */
    @Test
    void sweep_oldestLives_fifoStaysSmall() {
        Pair p = inOrder(1);
        TimerNode first = p.entries.top();
        long key = 100_000;
        for (int round = 0; round < 100; round++) {
            for (int i = 0; i < 2_000; i++) {
                p.push(key++).entry--;
            }
            if (p.entries.isSwept()) {
                p.compactor.rewind();
            }
            p.entries.sweep(p.compactor, 3_000, Integer.MAX_VALUE);
            assertTrue(p.entries.fifo.capacity() <= 16 * EntryFifo.CHUNK, p.entries.fifo.capacity() + " slots");
        }
        assertSame(first, p.entries.fifo.first());
    }

    @Test
    void sweep_mostDropped_givesChunksBack() {
        Pair p = inOrder(50_000);
        p.sweep(p.entries.size(), new Random(3), 1);
        assertEquals(0, p.entries.size());
        assertTrue(p.entries.fifo.capacity() <= 6 * EntryFifo.CHUNK, p.entries.fifo.capacity() + " slots");
        p.popAll();
        p = inOrder(50_000);
        while (p.entries.fifo.size() > 0) {
            p.removeLast();
        }
        assertTrue(p.entries.fifo.capacity() <= 6 * EntryFifo.CHUNK, p.entries.fifo.capacity() + " slots");
        assertEquals(p.heap.capacity() + p.entries.fifo.capacity(), p.entries.capacity());
        p.popAll();
    }

    /** An entry of the fifo may take the last slot of the heap only if the new one needs none. */
    @Test
    void push_oneSlotFreeAndTwoInTheWay_needsThatSlot() {
        Pair p = inOrder(10);
        p.push(1_000_000);
        p.push(1_000_000);
        while (p.heap.size() < p.heap.capacity() - 1) {
            p.pushToHeap(1);
        }
        p.push(2_000);
        p.check();
        assertEquals(12, p.entries.fifo.size());
        p.popAll();
    }

    /** It asks for memory once, and then not for a while. */
    @Test
    void push_outOfMemory_goesToTheHeapForAWhile() {
        Pair p = inOrder(EntryFifo.CHUNK);
        int free = p.heap.capacity() - p.heap.size();
        assertTrue(free > 2);
        p.heap.exhausted = true;
        int before = p.heap.size();
        p.push(100_000);
        p.heap.exhausted = false;
        p.push(100_001);
        assertEquals(before + 2, p.heap.size());
        p.check();
        for (int i = 2; i <= EntryQueue.REST; i++) {
            p.push(200_000);
        }
        assertEquals(EntryFifo.CHUNK, p.entries.fifo.size());
        p.push(200_000);
        p.push(200_001);
        assertEquals(EntryFifo.CHUNK + 2, p.entries.fifo.size());
        p.popAll();
    }

    /** Nothing can be allocated, and the heap is full: an entry of the heap is re-keyed in its place, one of the fifo is not. */
    @Test
    void rekeyTop_heapFull_needsNoMemoryInTheHeap() {
        Pair p = new Pair();
        for (int i = 1; i <= EntryFifo.MANY; i++) {
            p.push(10 * i);
        }
        p.pushToHeap(5);
        while (p.heap.size() < p.heap.capacity()) {
            p.pushToHeap(500_000);
        }
        p.heap.exhausted = true;
        assertFalse(p.entries.hasRoom());
        assertFalse(p.entries.isTopInFifo());
        p.rekeyTop(600_000);
        assertEquals(10, p.entries.topKey());
        assertTrue(p.entries.isTopInFifo());
        p.heap.exhausted = false;
        p.rekeyTop(10 * EntryFifo.MANY - 5);
        assertEquals(20, p.entries.topKey());
        p.checkAll();
        p.popAll();
    }

    /** What is put off during a rest goes to the heap, even if it would be the last of the fifo. */
    @Test
    void rekeyTop_resting_goesToTheHeap() {
        Pair p = inOrder(10);
        p.entries.rest = 10;
        p.rekeyTop(600_000);
        assertEquals(1, p.heap.size());
        assertEquals(9, p.entries.fifo.size());
        p.popAll();
    }

    @Test
    void earliestFrom_inHeapAndFifo_isTheLowestOfTheFirstOnes() {
        assertEquals(Timeline.NEVER, new EntryQueue(new TimerHeap()).earliestFrom(0));
        Pair p = inOrder(10);
        while (p.heap.size() > 0) {
            p.pop();
        }
        long first = p.entries.topKey();
        assertEquals(first, p.entries.earliestFrom(0));
        assertEquals(first + 10, p.entries.earliestFrom(first + 1));
        assertEquals(Timeline.NEVER, p.entries.earliestFrom(first + 91));
        p.push(first + 3);
        assertEquals(first + 3, p.entries.earliestFrom(first + 1));
        Pair many = inOrder(2_000);
        while (many.heap.size() > 0) {
            many.pop();
        }
        long far = many.entries.topKey() + 500;
        assertEquals(far, many.entries.earliestFrom(far), "what lies behind may be due at any time after them");
    }
}
