package io.pendula.internal.queue;

/**
 * Entries that came in the order of their keys, or nearly so, and leave in that order. Each takes a few steps, however
 * many there are. Single-threaded; its owner locks.
 *
 * <p>They lie in chunks, at consecutive positions. A chunk that has become empty goes to the end, for what comes next.
 * New chunks instead cost the collector much: it copies them, and finds references to young timers in them.
 *
 * <p>A sweep goes from the first entry to the last. What it keeps moves up to what it has kept before, so the order stays
 * as it is, and the slots of dropped entries form one gap: behind what was visited, in front of what was not.
 */
final class EntryFifo {
    private static final int CHUNK_BITS = 9;
    /** Entries of a chunk: 8 KiB, with compressed references. */
    static final int CHUNK = 1 << CHUNK_BITS;
    private static final int OFFSET = CHUNK - 1;
    /** An entry goes in front of this many others at most, as only a few steps are cheaper than a sift. */
    static final int NEAR = 8;
    /** With fewer entries than this, none goes in front of another: where keys come in no order, there are few. */
    static final int MANY = 64;
    /** This many slots at the end may be free, however few entries there are. */
    private static final int FREE_MIN = 4 * CHUNK;
    /** A hint looks at no more entries than this. */
    private static final int FIRST_ENTRIES = 16;

    /** The chunk of position {@code p} is at index {@code p / CHUNK}, modulo the length, which is a power of two. */
    private TimerHeap.Chunk[] chunks = new TimerHeap.Chunk[1];
    // Positions: roomFrom <= first <= gapFrom <= gapTo <= end <= roomEnd. Entries are from first to gapFrom and from gapTo
    // to end; there are chunks from roomFrom to roomEnd. There is no gap unless entries lie on both sides of it.
    private long roomFrom;
    private long first;
    private long gapFrom;
    private long gapTo;
    private long end;
    private long roomEnd;
    private long firstKey = Timeline.NEVER;
    private long lastKey;

    /** How many were added since the last trial, and how many of them the heap has taken; both for Entries. */
    int tried;
    int spilled;

    int size() {
        return (int) (gapFrom - first + end - gapTo);
    }

    boolean isEmpty() {
        return end == first;
    }

    int capacity() {
        return (int) (roomEnd - roomFrom);
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
        long p = position(i);
        return chunk(p).keys[(int) p & OFFSET];
    }

    TimerNode node(int i) {
        long p = position(i);
        return chunk(p).nodes[(int) p & OFFSET];
    }

    int seq(int i) {
        long p = position(i);
        return chunk(p).seqs[(int) p & OFFSET];
    }

    private long position(int i) {
        long p = first + i;
        return p < gapFrom ? p : p + gapTo - gapFrom;
    }

    private TimerHeap.Chunk chunk(long position) {
        TimerHeap.Chunk[] table = chunks; // read once, for earliestFrom
        return table[(int) (position >> CHUNK_BITS) & table.length - 1];
    }

    /** As that of the heap: racy, a hint. */
    long earliestFrom(long from) {
        long p = first;
        TimerHeap.Chunk c = chunk(p);
        long g = gapFrom;
        int n = (int) Math.min(FIRST_ENTRIES, (g > p ? g : end) - p);
        for (int i = 0; c != null && i < n; i++) {
            int o = (int) p + i & OFFSET;
            if (i > 0 && o == 0) { // of the next chunk
                return from;
            }
            if (c.keys[o] >= from) {
                return c.keys[o];
            }
        }
        return n >= size() ? Timeline.NEVER : from;
    }

    // ---- at the end ----

    boolean hasRoom() {
        return end < roomEnd;
    }

    /** @throws OutOfMemoryError with nothing changed */
    void addChunk(TimerHeap.Chunk c) {
        long from = roomFrom >> CHUNK_BITS;
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

    /** In front of how many entries one with this key belongs; negative if that are too many, or the gap is in the way. */
    private int steps(long key) {
        for (int n = 0; n <= NEAR && n <= end - gapTo && n < size(); n++) {
            if (key(size() - 1 - n) <= key) {
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
        clear(end);
        if (end < gapTo) {
            gapFrom = end;
            gapTo = end;
        } else if (end == gapTo) {
            closeGap();
        }
        noteKeys();
        trim();
    }

    private void clear(long position) {
        chunk(position).nodes[(int) position & OFFSET] = null;
    }

    private void noteKeys() {
        firstKey = isEmpty() ? Timeline.NEVER : key(0);
        lastKey = isEmpty() ? 0 : key(size() - 1);
    }

    // ---- at the front ----

    void removeFirst() {
        clear(first);
        first++;
        begin();
        firstKey = isEmpty() ? Timeline.NEVER : key(0);
    }

    /** The first entry is another. If none is left in front of the gap, it is the one behind it. */
    private void begin() {
        if (first > gapFrom) {
            gapFrom = first;
            gapTo = first;
        } else if (first == gapFrom) {
            first = gapTo;
            gapFrom = gapTo;
        }
        while (roomFrom >> CHUNK_BITS < first >> CHUNK_BITS) {
            TimerHeap.Chunk c = take(roomFrom >> CHUNK_BITS);
            roomFrom += CHUNK;
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

    // ---- sweeps ----

    /** From the first entry on, none has been visited. */
    void beginSweep() {
        assert gapTo == gapFrom : "the sweep before this one has not come to its end";
        gapFrom = first;
        gapTo = first;
    }

    /** Whether there are entries that the sweep has not visited. */
    boolean isUnswept() {
        return gapTo < end;
    }

    /** Visits the next {@code most} entries, or until so many were dropped as are wanted; returns how many it has visited. */
    int sweep(Compactor compactor, int most, int wanted) {
        int visited = 0;
        int dropped = 0;
        for (; visited < most && dropped < wanted && gapTo < end; visited++) {
            TimerHeap.Chunk c = chunk(gapTo);
            int o = (int) gapTo & OFFSET;
            if (compactor.isStale(c.nodes[o], c.seqs[o])) {
                c.nodes[o] = null;
                dropped++;
            } else {
                if (first == gapFrom) {
                    first = gapTo;
                    gapFrom = gapTo;
                } else if (gapFrom < gapTo) {
                    move(gapTo, gapFrom);
                    c.nodes[o] = null;
                }
                gapFrom++;
            }
            gapTo++;
        }
        if (first < gapFrom) {
            moveOverGap();
        }
        begin();
        if (gapTo == end) {
            closeGap();
        }
        noteKeys();
        trim();
        return visited;
    }

    /** What lies in front of the gap moves up by as many chunks as lie within it; no entry moves in its chunk. */
    private void moveOverGap() {
        long from = gapFrom + OFFSET >> CHUNK_BITS;
        long free = (gapTo >> CHUNK_BITS) - from;
        if (free > 0) {
            int mask = chunks.length - 1;
            for (long k = from - 1; k >= roomFrom >> CHUNK_BITS; k--) {
                TimerHeap.Chunk c = chunks[(int) k & mask];
                chunks[(int) k & mask] = chunks[(int) (k + free) & mask];
                chunks[(int) (k + free) & mask] = c;
            }
            first += free << CHUNK_BITS;
            gapFrom += free << CHUNK_BITS;
        }
    }

    private void closeGap() {
        end = gapFrom;
        gapTo = gapFrom;
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
