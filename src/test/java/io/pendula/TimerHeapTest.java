package io.pendula;

import static io.pendula.Fixtures.assertHeapOrder;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimerHeapTest {
    private static final class Node extends TimerNode {
        Node() {
            super(null, null);
        }
    }

    private record Entry(long key, long order, TimerNode node) {}

    /** A heap beside a sorted set; every operation is done to both. */
    private static final class Pair {
        final TimerHeap heap = new TimerHeap();
        final TreeSet<Entry> sorted =
                new TreeSet<>(Comparator.comparingLong(Entry::key).thenComparingLong(Entry::order));
        final Map<TimerNode, Entry> byNode = new HashMap<>();
        long order;

        void push(long key) {
            Node node = new Node();
            heap.ensureRoom();
            heap.push(key, node);
            add(new Entry(key, order++, node));
        }

        void pop() {
            forget(sorted.first());
            heap.pop();
        }

        void removeAt(int i) {
            forget(byNode.get(heap.node(i)));
            heap.removeAt(i);
        }

        void rekeyTop(long key) {
            TimerNode node = heap.top();
            forget(byNode.get(node));
            heap.rekeyTop(key);
            add(new Entry(key, order++, node));
        }

        private void add(Entry e) {
            sorted.add(e);
            byNode.put(e.node, e);
        }

        private void forget(Entry e) {
            sorted.remove(e);
            byNode.remove(e.node);
        }

        void check() {
            assertEquals(sorted.size(), heap.size());
            if (sorted.isEmpty()) {
                assertEquals(Timeline.NEVER, heap.topKey());
                assertNull(heap.top());
            } else {
                assertEquals(sorted.first().key, heap.topKey());
                assertSame(sorted.first().node, heap.top(), "equal keys must come out first in, first out");
            }
        }

        void checkFreed() {
            for (int i = heap.size(); i < heap.capacity(); i++) {
                assertNull(heap.node(i), "a freed slot keeps its node alive");
            }
        }

        void popAll() {
            while (!sorted.isEmpty()) {
                check();
                pop();
            }
            check();
        }
    }

    private static void startSequenceAt(TimerHeap heap, int seq) throws ReflectiveOperationException {
        Field f = TimerHeap.class.getDeclaredField("nextSeq");
        f.setAccessible(true);
        f.setInt(heap, seq);
    }

    /** Few distinct keys make ties, many make deep sifts; each start of the sequence wraps at another place. */
    @ParameterizedTest
    @ValueSource(ints = {0, Integer.MAX_VALUE - 700, -700})
    void randomOperations_anySequenceStart_matchSortedSet(int firstSeq) throws ReflectiveOperationException {
        Random rnd = new Random(firstSeq);
        for (int keys : new int[] {1, 3, 40, 1 << 30}) {
            Pair p = new Pair();
            startSequenceAt(p.heap, firstSeq);
            for (int i = 0; i < 6_000; i++) {
                int dice = rnd.nextInt(20);
                boolean growing = (i / 1_500 & 1) == 0;
                if (p.sorted.isEmpty() || dice < (growing ? 11 : 7)) {
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

    @Test
    void ensureRoom_full_growsByHalf() {
        Pair p = new Pair();
        int before = p.heap.capacity();
        for (int i = 0; i < before; i++) {
            p.push(i);
        }
        assertEquals(before, p.heap.capacity());
        p.heap.ensureRoom();
        assertEquals(before + before / 2, p.heap.capacity());
        p.popAll();
    }

    @Test
    void ensureRoom_outOfMemory_leavesHeapUnchanged() {
        Fixtures.LimitedHeap heap = new Fixtures.LimitedHeap();
        heap.exhausted = true;
        int capacity = heap.capacity();
        TimerNode[] nodes = new TimerNode[capacity];
        for (int i = 0; i < capacity; i++) {
            heap.ensureRoom();
            heap.push(i, nodes[i] = new Node());
        }
        assertThrows(OutOfMemoryError.class, heap::ensureRoom);
        assertEquals(capacity, heap.size());
        assertEquals(capacity, heap.capacity());
        for (TimerNode node : nodes) {
            assertSame(node, heap.top());
            heap.pop();
        }
    }

    @Test
    void trim_twoThirdsUnused_givesMemoryBack() {
        Pair p = new Pair();
        for (int i = 0; i < 60_000; i++) {
            p.push(i);
        }
        int full = p.heap.capacity();
        while (p.heap.size() >= full / 3) {
            assertEquals(full, p.heap.capacity());
            p.pop();
            p.heap.trim();
        }
        assertEquals(p.heap.size() * 3 / 2, p.heap.capacity());
        p.checkFreed();
        p.popAll();
        p.heap.trim();
        assertEquals(TimerHeap.TRIM_FLOOR, p.heap.capacity());
    }

    @Test
    void trim_outOfMemory_keepsArrays() {
        Fixtures.LimitedHeap heap = new Fixtures.LimitedHeap();
        for (int i = 0; i < 30_000; i++) {
            heap.ensureRoom();
            heap.push(i, new Node());
        }
        while (heap.size() > 1) {
            heap.pop();
        }
        int capacity = heap.capacity();
        heap.exhausted = true;
        heap.trim();
        assertEquals(capacity, heap.capacity());
        assertEquals(29_999, heap.topKey());
    }

    @Test
    void clear_full_forgetsEverything() {
        Pair p = new Pair();
        for (int i = 0; i < 1_000; i++) {
            p.push(i);
        }
        p.heap.clear();
        p.sorted.clear();
        p.check();
        p.checkFreed();
        assertTrue(p.heap.capacity() <= new TimerHeap().capacity());
    }
}
