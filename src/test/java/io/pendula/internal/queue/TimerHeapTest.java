package io.pendula.internal.queue;

import static io.pendula.internal.queue.InsideHeap.verify;
import static io.pendula.internal.queue.InsideHeap.blocks;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimerHeapTest {
    private static final int BLOCK = TimerHeap.BLOCK;
    private static final int MOST_KEPT = InsideHeap.MOST_SLOTS_KEPT;

    private static final class Node extends TimerNode {
        /** A look at its word fails with this. */
        Error error;

        Node() {
            super(null);
        }

        @Override
        public long wordVolatile() {
            if (error != null) {
                throw error;
            }
            return super.wordVolatile();
        }
    }

    /** A heap beside a sorted set; every operation is done to both. */
    private static final class Pair {
        final LimitedHeap heap = new LimitedHeap();
        final Compactor compactor = new Compactor(heap, new HoldLock(), new WakeGate(), 1);
        final SortedModel model = new SortedModel();
        private final Set<TimerNode> shown = new HashSet<>();
        private Set<TimerNode> staying = new HashSet<>();
        private boolean isWalking;
        private int walkAge;
        private int walks;

        TimerNode push(long key) {
            TimerNode node = new Node();
            node.beginMoving(1);
            node.tryFile(node.wordVolatile());
            heap.ensureRoom();
            heap.push(key, node);
            model.add(key, node);
            return node;
        }

        void pop() {
            model.forgetFirst();
            heap.pop();
        }

        void rekeyTop(long key, boolean hasRoom) {
            TimerNode node = heap.top();
            if (hasRoom) {
                heap.ensureRoom();
            }
            heap.rekeyTop(key, hasRoom);
            model.forget(node);
            model.add(key, node);
        }

        /** Goes on with a sweep, which drops each entry for which the dice say so; begins one if none is under way. */
        void sweep(int visits, Random rnd, int dropOneIn) {
            if (heap.isSwept()) {
                compactor.rewind();
            }
            Set<TimerNode> stale = new HashSet<>();
            for (InsideHeap.Entry e : InsideHeap.all(heap)) {
                if (rnd.nextInt(dropOneIn) == 0) {
                    e.node().entry--;
                    stale.add(e.node());
                }
            }
            heap.sweep(compactor, visits, Integer.MAX_VALUE, rnd.nextBoolean());
            for (InsideHeap.Entry e : InsideHeap.all(heap)) {
                if (stale.remove(e.node())) {
                    e.node().entry++;
                }
            }
            stale.forEach(model::forget);
        }

        /** Begins a walk, or goes on with it. Its last step must have shown all that stay. */
        void walkOn() {
            if (!isWalking) {
                isWalking = true;
                walkAge = heap.head.age - 1;
                staying = new HashSet<>(model.nodes());
            }
            Block b = heap.after(walkAge);
            walkAge = b.age;
            b.forEach(shown::add);
            if (b.next == null) {
                staying.removeIf(t -> !model.has(t));
                staying.removeAll(shown);
                assertEquals(Set.of(), staying, "walk " + walks + " has missed timers");
                walks++;
                shown.clear();
                isWalking = false;
            }
        }

        void check() {
            model.check(heap.size(), heap.topKey(), heap.top());
        }

        /** The structure, and by whatever way they are looked at, each entry once. */
        void checkAll() {
            verify(heap);
            Set<TimerNode> met = new HashSet<>();
            for (InsideHeap.Entry e : InsideHeap.all(heap)) {
                assertEquals(model.keyOf(e.node()), e.key());
                assertEquals(e.seq(), e.node().entry);
                assertTrue(met.add(e.node()), "two entries for one timer");
            }
            assertEquals(heap.size(), met.size());
            assertEquals(0, Stream.iterate(spare(), Objects::nonNull, b -> b.next)
                    .flatMap(b -> Stream.of(b.nodes)).filter(Objects::nonNull).count(), "a freed block keeps a timer alive");
        }

        private Block spare() {
            try {
                Field spare = TimerHeap.class.getDeclaredField("spare");
                spare.setAccessible(true);
                return (Block) spare.get(heap);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        long runs() {
            return blocks(heap).stream().filter(Block::isRun).count();
        }

        void popAll() {
            while (!model.isEmpty()) {
                check();
                pop();
            }
            check();
            verify(heap);
            assertTrue(heap.capacity() <= MOST_KEPT || heap.capacity() == spareSlots() + BLOCK, heap.capacity() + " slots");
        }

        private int spareSlots() {
            return BLOCK * (int) Stream.iterate(spare(), Objects::nonNull, b -> b.next).count();
        }
    }

    private static Pair inOrder(int entries) {
        Pair p = new Pair();
        for (int i = 0; i < entries; i++) {
            p.push(1_000 + 10L * i);
        }
        return p;
    }

    private static Pair inNoOrder(int entries, Random rnd) {
        Pair p = new Pair();
        for (int i = 0; i < entries; i++) {
            p.push(rnd.nextInt(1 << 30));
        }
        return p;
    }

    // ---- order ----

    /** Delays as they come: random, one, or a few that are mixed, so that there are runs and heaps. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void randomOperations_delaysOfAllKinds_matchSortedSet(int seed) {
        Random rnd = new Random(seed);
        LongUnaryOperator[] delays = {
            any -> rnd.nextInt(1 << 20), any -> 30_000, any -> rnd.nextInt(50) == 0 ? 1_000_000 : 30_000,
            any -> rnd.nextBoolean() ? 30_000 : 60_000, any -> rnd.nextInt(3), any -> 20_000 + rnd.nextInt(8)};
        Pair p = new Pair();
        p.heap.nextSeq = seed % 2 == 0 ? 0 : Integer.MAX_VALUE - 10_000; // which wraps around on the way
        long now = 0;
        boolean usedBoth = false;
        for (int i = 0; i < 30_000; i++) {
            LongUnaryOperator delay = delays[i / 2_500 % delays.length];
            boolean growing = (i / 6_000 & 1) == 0;
            int dice = rnd.nextInt(40);
            if (p.model.isEmpty() || dice < (growing ? 24 : 14)) {
                p.push(now + delay.applyAsLong(0));
            } else if (dice < 33) {
                now = Math.max(now, p.heap.topKey());
                p.pop();
            } else if (dice < 36) {
                p.sweep(rnd.nextInt(1 + p.heap.size()), rnd, 1 + rnd.nextInt(20));
            } else if (dice < 38) {
                p.rekeyTop(p.heap.topKey() + 1 + delay.applyAsLong(0), rnd.nextBoolean());
            } else {
                p.heap.trim();
            }
            now++;
            p.check();
            if (i % 50 == 0) {
                p.walkOn();
            }
            if (i % 250 == 0) {
                p.checkAll();
                usedBoth |= p.runs() > 0 && p.runs() < blocks(p.heap).size();
            }
        }
        assertTrue(usedBoth, "there must have been runs and heaps at once");
        assertTrue(p.walks > 50, p.walks + " walks");
        p.popAll();
    }

    /** Few distinct keys make ties, many make deep sifts; each start of the sequence wraps at another place. */
    @ParameterizedTest
    @ValueSource(ints = {0, Integer.MAX_VALUE - 700, -700})
    void randomOperations_anySequenceStart_matchSortedSet(int firstSeq) {
        Random rnd = new Random(firstSeq);
        for (int keys : new int[] {1, 3, 40, 1 << 30}) {
            Pair p = new Pair();
            p.heap.nextSeq = firstSeq;
            for (int i = 0; i < 12_000; i++) {
                int dice = rnd.nextInt(20);
                boolean growing = (i / 3_000 & 1) == 0;
                if (p.model.isEmpty() || dice < (growing ? 14 : 5)) {
                    p.push(rnd.nextInt(keys));
                } else if (dice < 18) {
                    p.pop();
                } else {
                    p.rekeyTop(p.heap.topKey() + rnd.nextInt(keys), dice == 18);
                }
                p.check();
                if (i % 500 == 0) {
                    p.checkAll();
                }
            }
            p.popAll();
        }
    }

    @Test
    void pop_extremeKeys_comeInOrder() {
        Pair p = new Pair();
        for (int i = 0; i < 2 * BLOCK; i++) {
            p.push(Timeline.NEVER - i % 3);
            p.push(i % 3);
        }
        p.popAll();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rekeyTop_equalKeys_goesBehindThem(boolean hasRoom) {
        Pair p = new Pair();
        TimerNode first = p.push(1);
        p.push(5);
        p.push(5);
        p.rekeyTop(5, hasRoom);
        p.pop();
        p.pop();
        assertSame(first, p.heap.top());
    }

    // ---- runs ----

    @Test
    void push_inOrder_blocksAreRuns() {
        Pair p = inOrder(100_000);
        assertEquals(blocks(p.heap).size(), p.runs());
        assertTrue(p.heap.capacity() < 100_000 + BLOCK, p.heap.capacity() + " slots");
        p.checkAll();
        p.popAll();
    }

    /** As by several threads that arm timers with the same delay. */
    @Test
    void push_nearlyInOrder_blocksAreRuns() {
        Pair p = new Pair();
        Random rnd = new Random(5);
        for (int i = 0; i < 20_000; i++) {
            p.push(10_000 + 10L * i - rnd.nextInt(10 * Block.NEAR));
        }
        assertEquals(blocks(p.heap).size(), p.runs());
        p.checkAll();
        p.popAll();
    }

    /** A few timers a day ahead, and all others 30 seconds: these stay in order. */
    @Test
    void push_fewFarAhead_blockIsARun() {
        Pair p = inOrder(200);
        for (int i = 0; i < Block.NEAR; i++) {
            p.push(1_000_000);
        }
        for (int i = 0; i < 700; i++) {
            p.push(5_000 + i);
        }
        assertEquals(1, p.runs());
        p.push(4_000);
        assertEquals(0, p.runs(), "it belongs in front of too many");
        p.popAll();
    }

    /** What is put off leaves a run in order, and comes behind all others. */
    @Test
    void rekeyTop_runAndRoom_goesToTheYoungestBlock() {
        Pair p = inOrder(2 * BLOCK);
        p.rekeyTop(1_000_000, true);
        assertEquals(3, p.runs());
        Block youngest = blocks(p.heap).get(2);
        assertEquals(1_000_000, youngest.keys[youngest.to - 1]);
        p.checkAll();
        p.popAll();
    }

    @Test
    void rekeyTop_noRoom_needsNoMemory() {
        Pair p = inOrder(2 * BLOCK);
        p.heap.exhausted = true;
        assertFalse(p.heap.hasRoom());
        p.rekeyTop(5_005, false);
        p.checkAll();
        p.popAll();
    }

    @Test
    void pop_lastOfAHeap_isARunAgain() {
        Pair p = new Pair();
        for (int i = 0; i < 40; i++) {
            p.push(1_000 - i);
        }
        assertEquals(0, p.runs());
        p.popAll();
        assertEquals(1, p.runs());
    }

    // ---- memory ----

    /** A step of growth happens under the owner's lock: it copies a block at most. */
    @Test
    void ensureRoom_full_growsByOneBlockAtMost() {
        Pair p = new Pair();
        int steps = 0;
        for (int i = 0; i < 40 * BLOCK; i++) {
            int before = p.heap.capacity();
            boolean full = p.heap.size() == before;
            p.push(-i & 0xfff);
            int grown = p.heap.capacity() - before;
            steps += grown > 0 ? 1 : 0;
            assertTrue(grown == 0 || full, "grown though there was room");
            assertTrue(grown == 0 || grown == BLOCK, before + " grew by " + grown);
        }
        assertEquals(39, steps);
        p.checkAll();
        p.popAll();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, BLOCK, 5 * BLOCK, 8 * BLOCK})
    void ensureRoom_outOfMemory_leavesHeapUnchanged(int before) {
        Pair p = new Pair();
        for (int i = 0; i < before || p.heap.hasRoom(); i++) {
            p.push(i);
        }
        p.heap.exhausted = true;
        int capacity = p.heap.capacity();
        assertThrows(OutOfMemoryError.class, p.heap::ensureRoom);
        assertEquals(capacity, p.heap.capacity());
        assertEquals(capacity, p.heap.size());
        p.checkAll();
        p.heap.exhausted = false;
        p.push(5);
        p.popAll();
    }

    /** The slots in front of a run are used before memory is refused, though all entries must be moved for one slot. */
    @Test
    void ensureRoom_outOfMemoryAndOneWasPopped_hasRoom() {
        Pair p = inOrder(BLOCK);
        p.heap.exhausted = true;
        for (int i = 0; i < 100; i++) {
            p.pop();
            assertTrue(hasRoom(p.heap));
            p.push(100_000 + i);
            assertFalse(hasRoom(p.heap));
        }
        p.checkAll();
        p.popAll();
    }

    /** Not by an Error that JUnit would take for one of its own. */
    private static boolean hasRoom(TimerHeap heap) {
        try {
            heap.ensureRoom();
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    /** Blocks are used again, also where the collector would take a small queue's slots for old ones. */
    @ParameterizedTest
    @ValueSource(ints = {1, 10, 500, 900, 2_000, 10_000})
    void popAndPush_oneDelay_needsNoMemory(int pending) {
        Pair p = inOrder(pending);
        long key = 1_000_000;
        for (int i = 0; i < 3 * pending; i++) {
            p.push(key++);
            p.pop();
        }
        p.heap.onGrow = () -> {
            throw new AssertionError("asked for memory");
        };
        for (int i = 0; i < 20_000; i++) {
            p.push(key++);
            p.pop();
            p.heap.trim(); // as before each sleep
        }
        p.checkAll();
        assertTrue(p.heap.capacity() <= 3 * BLOCK + pending, p.heap.capacity() + " slots");
        p.heap.onGrow = () -> {};
        p.popAll();
    }

    /** Fired in no order, blocks become sparse: they are united. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void pop_inNoOrder_slotsAreGivenBack(int seed) {
        Pair p = inNoOrder(60 * BLOCK, new Random(seed));
        while (p.heap.size() > 1) {
            p.pop();
            p.heap.trim();
            if (p.heap.size() % 1_000 == 0) {
                p.check();
                p.checkAll();
                assertTrue(p.heap.capacity() <= 6 * p.heap.size() + MOST_KEPT, p.heap.capacity() + " slots for " + p.heap.size());
            }
        }
        assertTrue(p.heap.capacity() <= MOST_KEPT, p.heap.capacity() + " slots");
        p.popAll();
    }

    /** A third of what is there may be unused, so that filling and sweeping in turn need not allocate each time. */
    @Test
    void trim_moreThanAThirdUnused_givesBlocksBack() {
        Pair p = inOrder(60_000);
        p.heap.exhausted = true; // trim needs none
        while (p.heap.size() > 1) {
            p.pop();
            int before = p.heap.capacity();
            p.heap.trim();
            int unused = Math.max(TimerHeap.SPARE_MIN * BLOCK, p.heap.size() / 2);
            assertTrue(p.heap.capacity() == before || p.heap.capacity() >= p.heap.size() + unused - BLOCK);
            assertTrue(p.heap.capacity() <= p.heap.size() + unused + 2 * BLOCK, p.heap.capacity() + " for " + p.heap.size());
        }
        assertTrue(p.heap.capacity() <= MOST_KEPT);
        p.checkAll();
    }

    // ---- sweeps ----

    /** Each stale entry goes in one round, and what lives stays in order. */
    @ParameterizedTest
    @ValueSource(ints = {1_021, 1_024, 2_500, 100_000})
    void sweep_inSlices_dropsAllAndKeepsTheOrder(int slice) {
        Pair p = inOrder(5_000);
        int live = 0;
        for (InsideHeap.Entry e : InsideHeap.all(p.heap)) {
            if (e.seq() % 3 != 0) {
                e.node().entry--;
            } else {
                live++;
            }
        }
        p.compactor.rewind();
        while (!p.heap.isSwept()) {
            assertTrue(p.heap.sweep(p.compactor, slice, Integer.MAX_VALUE, true) <= slice);
        }
        assertEquals(live, p.heap.size());
        assertEquals(blocks(p.heap).size(), p.runs());
        verify(p.heap);
        long last = 0;
        for (; p.heap.size() > 0; p.heap.pop()) {
            assertTrue(p.heap.topKey() > last);
            last = p.heap.topKey();
        }
    }

    /** Entries fire and come in between, so that blocks are united before and behind the sweep. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6})
    void sweep_entriesComeAndGoMeanwhile_dropsAllThatWereStaleBefore(int seed) {
        Random rnd = new Random(seed);
        for (int round = 0; round < 20; round++) {
            Pair p = inNoOrder(20 * BLOCK, rnd);
            for (int i = rnd.nextInt(12 * BLOCK); i > 0; i--) {
                p.pop();
            }
            for (InsideHeap.Entry e : InsideHeap.all(p.heap)) {
                if (rnd.nextInt(4) == 0) {
                    e.node().entry--;
                }
            }
            p.compactor.rewind();
            while (!p.heap.isSwept()) {
                p.heap.sweep(p.compactor, BLOCK, Integer.MAX_VALUE, true);
                for (int i = rnd.nextInt(600); i > 0; i--) {
                    if (p.heap.size() > 0) {
                        p.heap.pop();
                    }
                    if (rnd.nextInt(3) == 0) {
                        p.push(rnd.nextInt(1 << 30));
                    }
                }
                verify(p.heap);
            }
            InsideHeap.all(p.heap).forEach(e -> assertEquals(e.seq(), e.node().entry, "a stale entry was not visited"));
        }
    }

    /** Timers that are far away beside others that come and go. */
    @Test
    void sweep_fewOfABlockWereStale_leavesItOutSevenTimes() {
        Pair p = inOrder(3 * BLOCK);
        makeStale(p, BLOCK, BLOCK + BLOCK / 8 + 1); // enough, of the second block
        assertEquals(3 * BLOCK, sweepAll(p, false));
        int second = BLOCK - BLOCK / 8 - 1;
        for (int i = 0; i < 7; i++) {
            assertEquals(1 + (i == 0 ? second : 1) + BLOCK, sweepAll(p, false), "sweep " + i); // the youngest fills up
        }
        assertEquals(2 * BLOCK + 1, sweepAll(p, false));
        assertEquals(3 * BLOCK - BLOCK / 8 - 1, p.heap.size());
    }

    @Test
    void sweepOfAll_fewOfABlockWereStale_visitsIt() {
        Pair p = inOrder(3 * BLOCK);
        sweepAll(p, false);
        assertEquals(3 * BLOCK, sweepAll(p, true));
    }

    /** Returns how many were visited. */
    private static int sweepAll(Pair p, boolean all) {
        p.compactor.rewind();
        int visited = 0;
        while (!p.heap.isSwept()) {
            visited += p.heap.sweep(p.compactor, BLOCK, Integer.MAX_VALUE, all);
        }
        return visited;
    }

    private static void makeStale(Pair p, int fromSeq, int toSeq) {
        for (InsideHeap.Entry e : InsideHeap.all(p.heap)) {
            if (e.seq() >= fromSeq && e.seq() < toSeq) {
                e.node().entry--;
            }
        }
    }

    /** As when a thread has no stack left: what it had no time to look at stays, and what it has dropped is gone. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void sweep_breaksOffInTheMiddle_losesNone(boolean isRun) {
        Pair p = isRun ? inOrder(BLOCK) : inNoOrder(BLOCK, new Random(1));
        List<InsideHeap.Entry> all = InsideHeap.all(p.heap);
        for (int i = 0; i < all.size(); i += 2) {
            all.get(i).node().entry--;
            p.model.forget(all.get(i).node());
        }
        Node broken = (Node) all.get(BLOCK / 2 | 1).node();
        broken.error = new StackOverflowError("meant");
        p.compactor.rewind();
        assertSame(broken.error, assertThrows(StackOverflowError.class, () -> p.heap.sweep(p.compactor, BLOCK, BLOCK, true)));
        broken.error = null;
        verify(p.heap);
        p.compactor.rewind();
        p.heap.sweep(p.compactor, BLOCK, BLOCK, true);
        p.checkAll();
        p.popAll();
    }

    /** The first of all lives for long, and many that come behind it are stopped: the slots in between are used again. */
    @Test
    void sweep_oldestLives_heapStaysSmall() {
        Pair p = inOrder(1);
        TimerNode first = p.heap.top();
        long key = 100_000;
        for (int round = 0; round < 100; round++) {
            for (int i = 0; i < 2_000; i++) {
                p.push(key++).entry--;
            }
            p.compactor.rewind();
            p.heap.sweep(p.compactor, 5_000, Integer.MAX_VALUE, true);
            assertTrue(p.heap.capacity() <= 6 * BLOCK, p.heap.capacity() + " slots");
        }
        assertSame(first, p.heap.top());
        assertEquals(1, p.heap.size());
    }

    /** Two blocks become nearly empty; the younger one came when the sweep had begun. */
    @Test
    void sweep_blocksWouldBeUnitedAtItsEnd_dropsWhatWasStaleBefore() {
        int few = BLOCK / 5;
        Pair p = inOrder(BLOCK - few);
        TimerNode stale = p.push(1_000_000);
        for (int i = 1; i < few; i++) {
            p.push(1_000_000);
        }
        p.compactor.rewind();
        for (int i = 0; i < BLOCK - few; i++) {
            p.push(900_000);
        }
        for (int i = 0; i <= few; i++) {
            p.push(1_000_000);
        }
        while (p.heap.topKey() < 1_000_000) {
            p.pop();
        }
        stale.entry--;
        p.heap.sweep(p.compactor, BLOCK, Integer.MAX_VALUE, true);
        assertEquals(2 * few, p.heap.size());
    }

    // ---- walks ----

    /** Timers fire and come between two blocks, so that blocks are united before and behind the places of two walks. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6})
    void walkOn_blocksAreUnitedMeanwhile_showsAllThatStay(int seed) {
        Random rnd = new Random(seed);
        for (int round = 0; round < 20; round++) {
            Pair p = inNoOrder(20 * BLOCK, rnd);
            for (int i = 10 * BLOCK + rnd.nextInt(4 * BLOCK); i > 0; i--) {
                p.pop();
            }
            p.walkOn(); // goes on only when the second walk has ended
            int age = p.heap.head.age - 1;
            Set<TimerNode> staying = new HashSet<>(p.model.nodes());
            Set<TimerNode> shown = new HashSet<>();
            for (Block b = p.heap.after(age); ; b = p.heap.after(age)) {
                age = b.age;
                b.forEach(shown::add);
                if (b.next == null) {
                    break;
                }
                for (int i = rnd.nextInt(600); i > 0 && p.heap.size() > 0; i--) {
                    staying.remove(p.heap.top());
                    p.pop();
                    if (rnd.nextInt(3) == 0) {
                        p.push(rnd.nextInt(1 << 30));
                    }
                }
                verify(p.heap);
            }
            staying.removeAll(shown);
            assertEquals(Set.of(), staying);
            while (p.isWalking) {
                p.walkOn();
            }
        }
    }

    /** What is filed in place of the youngest blocks would be passed over if a new block had the age of one that is gone. */
    @ParameterizedTest
    @ValueSource(ints = {2 * BLOCK, BLOCK + BLOCK / 2})
    void walkOn_youngestBlocksEmptyMeanwhile_showsWhatIsFiledThen(int fired) {
        Pair p = new Pair();
        for (int i = 0; i < 3 * BLOCK; i++) {
            p.push(-i / BLOCK * BLOCK + i % BLOCK); // the youngest are due first
        }
        Block oldest = p.heap.after(p.heap.head.age - 1);
        int age = p.heap.after(oldest.age).age;
        Set<TimerNode> before = new HashSet<>(p.model.nodes());
        for (int i = 0; i < fired; i++) {
            p.pop();
        }
        for (int i = 0; i < 2 * BLOCK; i++) {
            p.push(i);
        }
        Set<TimerNode> filed = new HashSet<>(p.model.nodes());
        filed.removeAll(before);
        Block b;
        do {
            b = p.heap.after(age);
            age = b.age;
            b.forEach(filed::remove);
        } while (b.next != null);
        assertEquals(0, filed.size(), "passed over");
        verify(p.heap);
    }

    // ---- the hint ----

    @Test
    void earliestFrom_oneBlock_isTheLowestOfTheFirstOnes() {
        assertEquals(Timeline.NEVER, new TimerHeap().earliestFrom(0));
        for (boolean isRun : new boolean[] {true, false}) {
            Pair p = new Pair();
            for (int i = 1; i <= 16; i++) {
                p.push(10L * (isRun ? i : 17 - i));
            }
            assertEquals(isRun ? 1 : 0, p.runs());
            assertEquals(10, p.heap.earliestFrom(0));
            assertEquals(10, p.heap.earliestFrom(10));
            assertEquals(110, p.heap.earliestFrom(101));
            assertEquals(160, p.heap.earliestFrom(160));
            assertEquals(Timeline.NEVER, p.heap.earliestFrom(161));
        }
    }

    @Test
    void earliestFrom_manyAreEarlier_isThatInstant() {
        Pair p = inOrder(2_000);
        long far = p.heap.topKey() + 500;
        assertEquals(far, p.heap.earliestFrom(far), "what lies behind may be due at any time after them");
        assertEquals(p.heap.topKey() + 20, p.heap.earliestFrom(p.heap.topKey() + 11));
    }

    @Test
    void earliestFrom_manyBlocksAreEarlier_isThatInstant() {
        Pair p = inNoOrder(60 * BLOCK, new Random(3));
        long top = p.heap.topKey();
        assertEquals(top, p.heap.earliestFrom(0));
        assertEquals(1 << 29, p.heap.earliestFrom(1 << 29));
        p.pop();
        assertEquals(p.heap.topKey(), p.heap.earliestFrom(top + 1));
    }

    @Test
    void top_nothingThere_isNull() {
        assertNull(new TimerHeap().top());
        assertEquals(Timeline.NEVER, new TimerHeap().topKey());
    }
}
