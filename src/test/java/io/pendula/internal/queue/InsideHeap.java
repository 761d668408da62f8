package io.pendula.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongBinaryOperator;
import java.util.function.ToLongFunction;

/** What tests reach inside the heap of a queue. */
public final class InsideHeap {
    public static final int BLOCK = TimerHeap.BLOCK;
    /** What a heap keeps that was large once: a block in use, and the spare ones. */
    public static final int MOST_SLOTS_KEPT = (TimerHeap.SPARE_MIN + 1) * TimerHeap.BLOCK;

    private InsideHeap() {}

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
            capacity += BLOCK;
            before = b;
        }
        assertSame(before, get(heap, "tail"), "the youngest block");
        assertEquals(heap.size(), size);
        assertTrue(heap.capacity() >= size);
        verifyPlaces(heap, places);
        Object swept = get(heap, "swept");
        assertTrue(swept == null || blocks.contains(swept), "a sweep is at no block in use");
        int spares = 0;
        for (Block b = (Block) get(heap, "spare"); b != null; b = b.next) {
            assertEquals(0, b.size(), "a spare block has entries");
            assertEquals(0, b.place, "a spare block is in the heap");
            assertTrue(Arrays.stream(b.nodes).allMatch(Objects::isNull), "a spare block keeps a timer alive");
            capacity += BLOCK;
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

    static Object get(Object of, String field) {
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
