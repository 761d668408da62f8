package io.pendula.internal.queue;

import java.util.Arrays;

/**
 * A 4-ary min-heap of (key, node) entries, first in first out among equal keys. Single-threaded; its owner locks.
 *
 * <p>Keys lie in an array of their own beside the references: a sift then touches one cache line per level instead
 * of four timers, which at 100,000 entries is worth a factor of three and more. Nodes do not know their index:
 * writing it at every move would cost as much again, and lazy deletion needs none.
 *
 * <p>The heap grows in steps that are bounded, since a step happens under the owner's lock: the first chunk grows by
 * copying up to {@link #COPIED_MAX} entries, and from then on whole chunks are appended, and taken off again, without
 * any copying. The root has slot 3, the children of slot {@code s} have {@code 4 (s - 2)} and the three slots behind
 * it: four siblings never lie in two chunks, so that a sift looks up one chunk per level. An entry that sinks looks up none
 * in the first chunk; for one that rises that gains nothing that could be told.
 * A chunk four times smaller made resets of 100,000 timers a tenth dearer, as two or three levels of their heap lay
 * outside the first chunk instead of one.
 *
 * <p>Order among equals costs one {@code int} per entry. The smallest of four children is found without a branch
 * that the processor could mispredict; sequence numbers are looked at only when two keys are really equal, and are
 * compared by difference, so they may wrap around.
 *
 * <p>Keys must be at least 0 (the sign of a difference must tell the order).
 */
public class TimerHeap {
    private static final int CHUNK_BITS = 14;
    /** Entries of a chunk: 256 KiB in three arrays, with compressed references. */
    static final int CHUNK = 1 << CHUNK_BITS;
    /** So many slots are copied at most in one step: 64 KiB. */
    static final int COPIED_MAX = 4096;
    /** No chunk is given back by a heap that has no more slots than this. */
    public static final int TRIM_FLOOR = CHUNK;

    private static final int OFFSET = CHUNK - 1;
    private static final int MIN_CAPACITY = 64;
    private static final int ROOT = 3;
    /** Entries of the first three levels. */
    private static final int FIRST_LEVELS = 21;
    /** The first child of every slot below this is positive. */
    private static final int MAX_CAPACITY = 1 << 29;

    /** Slots in a row. */
    static final class Chunk {
        final long[] keys;
        final TimerNode[] nodes;
        final int[] seqs;

        // In an EntryFifo: where its entries begin and end, and the chunks beside it.
        int from;
        int to;
        Chunk prev;
        Chunk next;

        Chunk(int capacity) {
            keys = new long[capacity];
            nodes = new TimerNode[capacity];
            seqs = new int[capacity];
        }

        Chunk(Chunk old, int capacity) {
            keys = Arrays.copyOf(old.keys, capacity);
            nodes = Arrays.copyOf(old.nodes, capacity);
            seqs = Arrays.copyOf(old.seqs, capacity);
        }

        void set(int i, long key, int seq, TimerNode node) {
            keys[i] = key;
            seqs[i] = seq;
            nodes[i] = node;
        }
    }

    /** The first one may be smaller than the others; only the first {@link #chunkCount} are there. */
    private Chunk[] chunks = {new Chunk(MIN_CAPACITY), null};
    /** Where an entry that sinks passes most of its way. */
    private Chunk first = chunks[0];
    private int chunkCount = 1;
    private int size;

    public final int size() {
        return size;
    }

    /** How many entries there is room for. */
    public final int capacity() {
        return slots() - ROOT;
    }

    private int slots() {
        return (chunkCount - 1) * CHUNK + first.keys.length;
    }

    public final long topKey() {
        return size == 0 ? Timeline.NEVER : first.keys[ROOT];
    }

    /**
     * The earliest key that is not before {@code from}, among the first entries: the root, its children and theirs. If
     * all of these are earlier, {@code from}; NEVER if there is none. Racy, without the owner's lock: a hint.
     */
    final long earliestFrom(long from) {
        long[] k = first.keys;
        int n = Math.min(Math.min(size, FIRST_LEVELS), k.length - ROOT);
        long earliest = Timeline.NEVER;
        for (int s = ROOT; s < ROOT + n; s++) {
            if (k[s] >= from && k[s] < earliest) {
                earliest = k[s];
            }
        }
        return earliest == Timeline.NEVER && n == FIRST_LEVELS ? from : earliest;
    }

    public final TimerNode top() {
        return first.nodes[ROOT];
    }

    // Entries are numbered from 0, the top, to size - 1.

    /** Negative for the top. */
    static int parent(int i) {
        return (i + ROOT >> 2) + 2 - ROOT;
    }

    public final long key(int i) {
        int s = i + ROOT;
        return chunks[s >> CHUNK_BITS].keys[s & OFFSET];
    }

    public final TimerNode node(int i) {
        int s = i + ROOT;
        return chunks[s >> CHUNK_BITS].nodes[s & OFFSET];
    }

    public final int seq(int i) {
        int s = i + ROOT;
        return chunks[s >> CHUNK_BITS].seqs[s & OFFSET];
    }

    /**
     * Makes room for one more entry, so that the next push cannot fail.
     *
     * @throws OutOfMemoryError with the heap unchanged
     */
    final void ensureRoom() {
        if (size + ROOT == slots()) {
            if (size + ROOT >= MAX_CAPACITY) {
                throw new OutOfMemoryError("a timer heap cannot hold more than " + size + " entries");
            }
            grow();
        }
    }

    /** Everything is allocated before anything is replaced, so a failure leaves the heap as it was. */
    void grow() {
        int capacity = first.keys.length;
        if (capacity < CHUNK) {
            first = allocate(first, capacity < COPIED_MAX ? capacity * 2 : CHUNK);
            chunks[0] = first;
            return;
        }
        Chunk[] table = chunkCount < chunks.length ? chunks : Arrays.copyOf(chunks, chunkCount * 2);
        table[chunkCount] = allocate(null, CHUNK);
        chunks = table;
        chunkCount++;
    }

    /** With the contents of the old one, unless that is null. Not private, so that tests can let it fail. */
    Chunk allocate(Chunk old, int capacity) {
        return old == null ? new Chunk(capacity) : new Chunk(old, capacity);
    }

    /**
     * Gives chunks back that are not used. A third of what a large heap has may be unused, and a small heap is left
     * alone: filling from an inbox and sweeping take turns, and would make it grow and shrink for ever.
     */
    void trim() {
        int kept = Math.max(TRIM_FLOOR, size + (size >> 1)) + OFFSET >> CHUNK_BITS;
        while (chunkCount > kept) {
            chunks[--chunkCount] = null;
        }
    }

    /** Adds an entry; {@link #ensureRoom} must have been called. */
    final void push(long key, int seq, TimerNode node) {
        siftUp(ROOT + size++, key, seq, node);
    }

    /** Gives the top entry a later key, and a higher number, so that it goes behind the entries that have that key already. */
    final void rekeyTop(long key, int seq) {
        sink(ROOT, key, seq, first.nodes[ROOT]);
    }

    /** Removes any entry. The last one takes its place, and may have to move either way. */
    final void removeAt(int i) {
        int last = --size + ROOT;
        Chunk c = chunks[last >> CHUNK_BITS];
        int o = last & OFFSET;
        TimerNode node = c.nodes[o];
        c.nodes[o] = null; // or it would be kept alive until overwritten
        int s = i + ROOT;
        if (s < last) {
            long key = c.keys[o];
            int seq = c.seqs[o];
            int parent = parent(i);
            if (s > ROOT && before(key, seq, key(parent), seq(parent))) {
                siftUp(s, key, seq, node);
            } else {
                sink(s, key, seq, node);
            }
        }
    }

    private static boolean before(long key, int seq, long otherKey, int otherSeq) {
        return key < otherKey || key == otherKey && seq - otherSeq < 0;
    }

    /** Puts an entry where a hole is, or above. It must not belong below. */
    private void siftUp(int hole, long key, int seq, TimerNode node) {
        int s = hole;
        Chunk c = chunks[s >> CHUNK_BITS];
        while (s > ROOT) {
            int parent = (s >> 2) + 2;
            Chunk above = chunks[parent >> CHUNK_BITS];
            int p = parent & OFFSET;
            long parentKey = above.keys[p];
            if (!before(key, seq, parentKey, above.seqs[p])) {
                break;
            }
            c.set(s & OFFSET, parentKey, above.seqs[p], above.nodes[p]);
            c = above;
            s = parent;
        }
        c.set(s & OFFSET, key, seq, node);
    }

    /** Puts an entry where a hole is, or below. It must not belong above. */
    private void sink(int hole, long key, int seq, TimerNode node) {
        int end = size + ROOT;
        int limit = Math.min(end, CHUNK);
        long[] k = first.keys;
        TimerNode[] t = first.nodes;
        int[] q = first.seqs;
        int s = hole;
        int child;
        // Slots are positive. The compiler, once it knows that, makes one check of the bounds of four keys.
        while ((child = s - 2 << 2) < limit && child > 0) {
            int min = child + 3 < end ? minOfFour(k, q, child) : minOf(k, q, child, end);
            if (before(key, seq, k[min], q[min])) {
                break;
            }
            k[s] = k[min];
            t[s] = t[min];
            q[s] = q[min];
            s = min;
        }
        if (s >= CHUNK || child >= CHUNK && child < end) {
            sinkBelowFirstChunk(s, end, key, seq, node);
        } else {
            k[s] = key;
            t[s] = node;
            q[s] = seq;
        }
    }

    private void sinkBelowFirstChunk(int hole, int end, long key, int seq, TimerNode node) {
        Chunk[] table = chunks;
        Chunk c = table[hole >> CHUNK_BITS];
        int o = hole & OFFSET;
        int s = hole;
        for (int child; (child = s - 2 << 2) < end; ) {
            Chunk below = table[child >> CHUNK_BITS];
            long[] k = below.keys;
            int[] q = below.seqs;
            int b = child & OFFSET;
            int min = child + 3 < end ? minOfFour(k, q, b) : minOf(k, q, b, b + end - child);
            if (before(key, seq, k[min], q[min])) {
                break;
            }
            c.set(o, k[min], q[min], below.nodes[min]);
            c = below;
            o = min;
            s = child + min - b;
        }
        c.set(o, key, seq, node);
    }

    /** Of the last ones of all there may be fewer than four. */
    private static int minOf(long[] k, int[] q, int from, int end) {
        int min = from;
        for (int i = from + 1; i < end; i++) {
            if (before(k[i], q[i], k[min], q[min])) {
                min = i;
            }
        }
        return min;
    }

    /** A tournament on sign bits: no branch depends on the order of the keys. */
    private static int minOfFour(long[] k, int[] s, int c) {
        long k0 = k[c];
        long k1 = k[c + 1];
        long k2 = k[c + 2];
        long k3 = k[c + 3];
        long d = k1 - k0;
        if (d == 0) {
            d = s[c + 1] - s[c];
        }
        long e = k3 - k2;
        if (e == 0) {
            e = s[c + 3] - s[c + 2];
        }
        int a = c + (int) (d >>> 63);
        int b = c + 2 + (int) (e >>> 63);
        long f = Math.min(k2, k3) - Math.min(k0, k1);
        if (f == 0) {
            f = s[b] - s[a];
        }
        return a + (b - a & (int) (f >> 63));
    }
}
