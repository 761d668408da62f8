package io.pendula.internal.queue;

/**
 * Entries that came in the order of their keys, or nearly so, and leave in that order. Each takes a few steps, however
 * many there are. Single-threaded; its owner locks.
 *
 * <p>They lie in chunks, at consecutive positions. A chunk that has become empty goes to the end, for what comes next.
 * New chunks instead cost the collector much: it copies them, and finds references to young timers in them.
 */
final class EntryFifo {
    private static final int CHUNK_BITS = 9;
    /** Entries of a chunk: 8 KiB, with compressed references. */
    static final int CHUNK = 1 << CHUNK_BITS;
    private static final int OFFSET = CHUNK - 1;
    /** An entry goes in front of so many others at most; */
    static final int NEAR = 8;
    /** if there are so many at least. Where keys come in no order, there are few, and these steps would be in vain. */
    static final int MANY = 64;
    /** There may be room for so many entries at the end, whatever there are. */
    private static final int FREE_MIN = 4 * CHUNK;
    /** So many entries from the first one on are looked at by a hint. */
    private static final int FIRST_ENTRIES = 16;

    /** The chunk of position {@code p} is at index {@code p / CHUNK}, modulo the length, which is a power of two. */
    private TimerHeap.Chunk[] chunks = new TimerHeap.Chunk[1];
    // Positions: first <= end <= roomEnd. There are entries from first to end, and chunks for all up to roomEnd.
    private long first;
    private long end;
    private long roomEnd;
    private long firstKey = Timeline.NEVER;
    private long lastKey;

    /** How many were added since the last trial, and how many of them the heap has taken; both for Entries. */
    int tried;
    int spilled;

    int size() {
        return (int) (end - first);
    }

    boolean isEmpty() {
        return end == first;
    }

    int capacity() {
        return (int) (roomEnd - (first & ~OFFSET));
    }

    /** NEVER if there is none. */
    long firstKey() {
        return firstKey;
    }

    TimerNode first() {
        return chunk(first).nodes[(int) first & OFFSET];
    }

    int firstSeq() {
        return chunk(first).seqs[(int) first & OFFSET];
    }

    /** The key of the one behind the first; there must be one. */
    long secondKey() {
        return key(1);
    }

    // Entries are numbered from 0, the first, to size - 1.

    long key(int i) {
        long p = first + i;
        return chunk(p).keys[(int) p & OFFSET];
    }

    TimerNode node(int i) {
        long p = first + i;
        return chunk(p).nodes[(int) p & OFFSET];
    }

    int seq(int i) {
        long p = first + i;
        return chunk(p).seqs[(int) p & OFFSET];
    }

    private TimerHeap.Chunk chunk(long position) {
        TimerHeap.Chunk[] table = chunks; // read once, for earliestFrom
        return table[(int) (position >> CHUNK_BITS) & table.length - 1];
    }

    /** As that of the heap: racy, a hint. */
    long earliestFrom(long from) {
        long p = first;
        TimerHeap.Chunk c = chunk(p);
        int n = size();
        for (int i = 0; c != null && i < Math.min(n, FIRST_ENTRIES); i++) {
            int o = (int) p + i & OFFSET;
            if (i > 0 && o == 0) { // of the next chunk
                return from;
            }
            if (c.keys[o] >= from) {
                return c.keys[o];
            }
        }
        return n <= FIRST_ENTRIES ? Timeline.NEVER : from;
    }

    // ---- at the end ----

    boolean hasRoom() {
        return end < roomEnd;
    }

    /** @throws OutOfMemoryError with nothing changed */
    void addChunk(TimerHeap.Chunk c) {
        long from = first >> CHUNK_BITS;
        long to = roomEnd >> CHUNK_BITS;
        if (to - from == chunks.length) {
            TimerHeap.Chunk[] more = new TimerHeap.Chunk[chunks.length * 2];
            for (long k = from; k < to; k++) {
                more[(int) k & more.length - 1] = chunks[(int) k & chunks.length - 1];
            }
            chunks = more;
        }
        chunks[(int) to & chunks.length - 1] = c;
        roomEnd += CHUNK;
    }

    /** The highest key; there must be one. */
    long lastKey() {
        return lastKey;
    }

    /** Whether an entry with this key belongs at the end, or near it. */
    boolean fits(long key) {
        return isEmpty() || key >= lastKey || size() >= MANY && steps(key) >= 0;
    }

    /** In front of how many entries one with this key belongs; negative if that are too many. */
    private int steps(long key) {
        for (int n = 0; n <= NEAR && n < size(); n++) {
            long p = end - 1 - n;
            if (chunk(p).keys[(int) p & OFFSET] <= key) {
                return n;
            }
        }
        return -1;
    }

    /** There must be room, and the key must fit. Goes behind the entries with the same key. */
    void add(long key, int seq, TimerNode node) {
        long p = end;
        if (isEmpty()) {
            firstKey = key;
            lastKey = key;
        } else if (key >= lastKey) {
            lastKey = key;
        } else {
            for (int n = steps(key); n > 0; n--) {
                move(p - 1, p);
                p--;
            }
        }
        end++;
        TimerHeap.Chunk c = chunk(p);
        int o = (int) p & OFFSET;
        c.keys[o] = key;
        c.seqs[o] = seq;
        c.nodes[o] = node;
    }

    private void move(long from, long to) {
        TimerHeap.Chunk c = chunk(from);
        TimerHeap.Chunk d = chunk(to);
        int o = (int) from & OFFSET;
        int p = (int) to & OFFSET;
        d.keys[p] = c.keys[o];
        d.seqs[p] = c.seqs[o];
        d.nodes[p] = c.nodes[o];
    }

    void removeLast() {
        end--;
        chunk(end).nodes[(int) end & OFFSET] = null;
        if (isEmpty()) {
            firstKey = Timeline.NEVER;
        } else {
            lastKey = key(size() - 1);
        }
        trim();
    }

    // ---- at the front ----

    void removeFirst() {
        chunk(first).nodes[(int) first & OFFSET] = null;
        first++;
        firstKey = isEmpty() ? Timeline.NEVER : key(0);
        if ((first & OFFSET) == 0) {
            TimerHeap.Chunk c = take((first >> CHUNK_BITS) - 1);
            if (!isAmple()) {
                addChunk(c);
            }
            trim();
        }
    }

    /** Gives the first entry a later key, which must be lower than that of the second one. */
    void rekeyFirst(long key, int seq) {
        TimerHeap.Chunk c = chunk(first);
        int o = (int) first & OFFSET;
        c.keys[o] = key;
        c.seqs[o] = seq;
        firstKey = key;
        if (size() == 1) {
            lastKey = key;
        }
    }

    /** The first entry goes behind the second one, whose key it takes. */
    void delayFirst() {
        long second = first + 1;
        TimerHeap.Chunk c = chunk(first);
        TimerHeap.Chunk d = chunk(second);
        int o = (int) first & OFFSET;
        int p = (int) second & OFFSET;
        TimerNode node = c.nodes[o];
        int seq = c.seqs[o];
        c.keys[o] = d.keys[p];
        c.nodes[o] = d.nodes[p];
        c.seqs[o] = d.seqs[p];
        d.nodes[p] = node;
        d.seqs[p] = seq;
        firstKey = c.keys[o];
    }

    // ----

    private void trim() {
        while (isAmple()) {
            roomEnd -= CHUNK;
            take(roomEnd >> CHUNK_BITS);
        }
    }

    /** Whether a chunk at the end can be spared. As with the heap, a third may be unused. */
    private boolean isAmple() {
        return roomEnd - end > CHUNK + Math.max(FREE_MIN, size() >> 1);
    }

    private TimerHeap.Chunk take(long number) {
        int i = (int) number & chunks.length - 1;
        TimerHeap.Chunk c = chunks[i];
        chunks[i] = null;
        return c;
    }
}
