package io.pendula.internal.queue;

import static io.pendula.internal.queue.Inside.assertHeapOrder;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimerHeapTest {
    private static final class Node extends TimerNode {
        Node() {
            super(null);
        }
    }

    /** A heap beside a sorted set; every operation is done to both. */
    private static final class Pair {
        final TimerHeap heap = new TimerHeap();
        final SortedModel model = new SortedModel();
        int nextSeq;

        void push(long key) {
            Node node = new Node();
            heap.ensureRoom();
            heap.push(key, nextSeq++, node);
            model.add(key, node);
        }

        void pop() {
            model.forgetFirst();
            heap.removeAt(0);
        }

        void removeAt(int i) {
            model.forget(heap.node(i));
            heap.removeAt(i);
        }

        void rekeyTop(long key) {
            TimerNode node = heap.top();
            model.forget(node);
            heap.rekeyTop(key, nextSeq++);
            model.add(key, node);
        }

        void check() {
            model.check(heap.size(), heap.topKey(), heap.top());
        }

        void checkFreed() {
            for (int i = heap.size(); i < heap.capacity(); i++) {
                assertNull(heap.node(i), "a freed slot keeps its node alive");
            }
        }

        void popAll() {
            while (!model.isEmpty()) {
                check();
                pop();
            }
            check();
        }
    }

    /** Few distinct keys make ties, many make deep sifts; each start of the sequence wraps at another place. */
    @ParameterizedTest
    @ValueSource(ints = {0, Integer.MAX_VALUE - 700, -700})
    void randomOperations_anySequenceStart_matchSortedSet(int firstSeq) {
        Random rnd = new Random(firstSeq);
        for (int keys : new int[] {1, 3, 40, 1 << 30}) {
            Pair p = new Pair();
            p.nextSeq = firstSeq;
            for (int i = 0; i < 6_000; i++) {
                int dice = rnd.nextInt(20);
                boolean growing = (i / 1_500 & 1) == 0;
                if (p.model.isEmpty() || dice < (growing ? 11 : 7)) {
                    p.push(rnd.nextInt(keys));
                } else if (dice < 15) {
                    p.pop();
                } else if (dice < 18) {
                    p.removeAt(rnd.nextInt(p.heap.size()));
                } else if (dice < 19) {
                    p.rekeyTop(p.heap.topKey() + rnd.nextInt(keys));
                } else {
                    p.heap.trim();
                }
                p.check();
                if (i % 500 == 0) {
                    p.checkFreed();
                    assertHeapOrder(p.heap);
                }
            }
            p.popAll();
            p.checkFreed();
        }
    }

    @Test
    void pop_extremeKeys_comeInOrder() {
        Pair p = new Pair();
        for (int i = 0; i < 50; i++) {
            p.push(Timeline.NEVER - i % 3);
            p.push(i % 3);
        }
        p.popAll();
    }

    @Test
    void removeAt_lastTakesPlaceUnderLaterParent_movesUp() {
        Pair p = new Pair();
        p.push(0);
        p.push(100); // the children of this one have late keys
        p.push(1);
        p.push(1);
        p.push(1);
        for (int i = 0; i < 4; i++) {
            p.push(200);
        }
        for (int i = 0; i < 4; i++) {
            p.push(2); // the children of the next one have early keys
        }
        p.removeAt(5);
        assertHeapOrder(p.heap);
        p.popAll();
    }

    @Test
    void rekeyTop_equalKeys_goesBehindThem() {
        Pair p = new Pair();
        p.push(1);
        TimerNode first = p.heap.top();
        p.push(5);
        p.push(5);
        p.rekeyTop(5);
        p.pop();
        p.pop();
        assertSame(first, p.heap.top());
    }

    /** As in a queue whose timers surface, are swept and are pushed again, over several chunks. */
    @ParameterizedTest
    @ValueSource(ints = {3, 5_000, 1 << 30})
    void randomOperations_severalChunks_matchSortedSet(int keys) {
        Random rnd = new Random(keys);
        Pair p = new Pair();
        for (int i = 0; i < 4 * TimerHeap.CHUNK; i++) {
            p.push(rnd.nextInt(keys));
        }
        for (int i = 0; i < 60_000; i++) {
            int dice = rnd.nextInt(20);
            if (p.model.isEmpty() || dice < 4) {
                p.push(p.heap.topKey() % keys + rnd.nextInt(keys));
            } else if (dice < 10) {
                p.pop();
            } else if (dice < 15) {
                p.removeAt(p.heap.size() - 1 - rnd.nextInt(Math.min(40, p.heap.size())));
            } else if (dice < 18) {
                p.removeAt(rnd.nextInt(p.heap.size()));
            } else if (dice < 19) {
                p.rekeyTop(p.heap.topKey() + rnd.nextInt(keys));
            } else {
                p.heap.trim();
            }
            p.check();
            if (i % 5_000 == 0) {
                p.checkFreed();
                assertHeapOrder(p.heap);
            }
        }
        p.popAll();
        p.checkFreed();
    }

    /** A step of growth happens under the owner's lock: it copies one chunk at most, and then nothing. */
    @Test
    void ensureRoom_full_growsByOneChunkAtMost() {
        Pair p = new Pair();
        int steps = 0;
        for (int i = 0; i < 10 * TimerHeap.CHUNK; i++) {
            int before = p.heap.capacity();
            boolean full = p.heap.size() == before;
            p.push(-i & 0xfff);
            if (full) {
                steps++;
                int grown = p.heap.capacity() - before;
                assertTrue(grown == TimerHeap.CHUNK || p.heap.capacity() < TimerHeap.CHUNK && grown >= before,
                        before + " slots grew by " + grown);
                assertTrue(before < TimerHeap.COPIED_MAX || grown == TimerHeap.CHUNK, before + " entries were copied");
            }
            assertTrue(p.heap.capacity() >= p.heap.size() && p.heap.capacity() < p.heap.size() + TimerHeap.CHUNK);
        }
        assertTrue(steps > 10 && steps < 20, steps + " steps");
        assertHeapOrder(p.heap);
        p.popAll();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, TimerHeap.CHUNK, 2 * TimerHeap.CHUNK, 5 * TimerHeap.CHUNK})
    void ensureRoom_outOfMemory_leavesHeapUnchanged(int before) {
        LimitedHeap heap = new LimitedHeap();
        for (int i = 0; i < before || heap.size() < heap.capacity(); i++) {
            heap.ensureRoom();
            heap.push(i, i, new Node());
        }
        heap.exhausted = true;
        int capacity = heap.capacity();
        TimerNode[] nodes = new TimerNode[capacity];
        for (int i = 0; i < capacity; i++) {
            nodes[i] = heap.node(i);
        }
        assertThrows(OutOfMemoryError.class, heap::ensureRoom);
        assertEquals(capacity, heap.size());
        assertEquals(capacity, heap.capacity());
        for (TimerNode node : nodes) { // pushed in the order of their keys, so no entry has ever moved
            assertSame(node, heap.top());
            heap.removeAt(0);
        }
    }

    /** A third of what is there may be unused, so that filling and sweeping in turn need not allocate each time. */
    @Test
    void trim_moreThanAThirdUnused_givesWholeChunksBack() {
        Pair p = new Pair();
        for (int i = 0; i < 60_000; i++) {
            p.push(i);
        }
        while (p.heap.size() > 1) {
            p.pop();
            int before = p.heap.capacity();
            p.heap.trim();
            int kept = Math.max(TimerHeap.TRIM_FLOOR, p.heap.size() * 3 / 2);
            assertTrue(p.heap.capacity() == before || p.heap.capacity() >= kept - 3);
            assertTrue(p.heap.capacity() < kept + TimerHeap.CHUNK, p.heap.capacity() + " for " + p.heap.size());
        }
        p.checkFreed();
        p.check();
        assertTrue(p.heap.capacity() <= TimerHeap.TRIM_FLOOR);
        for (int i = 0; i < 30_000; i++) {
            p.push(i);
        }
        p.popAll();
    }

    @Test
    void trim_outOfMemory_needsNone() {
        LimitedHeap heap = new LimitedHeap();
        for (int i = 0; i < 60_000; i++) {
            heap.ensureRoom();
            heap.push(i, i, new Node());
        }
        heap.exhausted = true;
        while (heap.size() > 1) {
            heap.removeAt(0);
        }
        heap.trim();
        assertTrue(heap.capacity() <= TimerHeap.TRIM_FLOOR);
        assertEquals(59_999, heap.topKey());
    }

    private static TimerHeap heapOf(int entries) {
        TimerHeap heap = new TimerHeap();
        for (int i = 1; i <= entries; i++) {
            heap.ensureRoom();
            heap.push(10L * i, i, new Node());
        }
        return heap;
    }

    @Test
    void earliestFrom_amongTheFirstEntries_isTheLowestThatIsNotEarlier() {
        assertEquals(Timeline.NEVER, new TimerHeap().earliestFrom(0));
        assertEquals(10, heapOf(1).earliestFrom(10));
        assertEquals(Timeline.NEVER, heapOf(1).earliestFrom(11));
        TimerHeap heap = heapOf(20);
        assertEquals(10, heap.earliestFrom(0));
        assertEquals(110, heap.earliestFrom(101));
        assertEquals(200, heap.earliestFrom(200));
        assertEquals(Timeline.NEVER, heap.earliestFrom(201));
    }

    /** The root, its children and theirs are 21: what lies below may be due at any time after them. */
    @ParameterizedTest
    @ValueSource(ints = {21, 22, 5_000})
    void earliestFrom_allOfTheFirstEntriesAreEarlier_isThatInstant(int entries) {
        TimerHeap heap = heapOf(entries);
        assertEquals(210, heap.earliestFrom(201));
        assertEquals(211, heap.earliestFrom(211));
    }
}
