package io.pendula.internal.queue;

import io.pendula.internal.queue.TimerHeap.Chunk;
import java.util.function.Predicate;

/**
 * Entries that came in the order of their keys, or nearly so, and leave in that order. Each takes a few steps, however
 * many there are. Single-threaded; its owner locks.
 *
 * <p>They lie in linked chunks. The entries of a chunk lie side by side, from its {@code from} to its {@code to}; they
 * are added behind these and taken out in front. A sweep goes from chunk to chunk. It moves what it keeps up, into the
 * chunk before as far as there is room, so the order stays as it is and no chunk that was swept has a gap.
 *
 * <p>Chunks are used again. New ones instead cost the collector much: it copies them, and finds references to young
 * timers in them.
 */
final class EntryFifo {
    /** Entries of a chunk: 8 KiB, with compressed references. */
    static final int CHUNK = 512;
    /** An entry goes in front of this many others at most, as only a few steps are cheaper than a sift. */
    static final int NEAR = 8;
    /** With fewer entries than this, none goes in front of another: where keys come in no order, there are few. */
    static final int MANY = 64;
    /** This many chunks are kept for use, however few entries there are. */
    private static final int SPARE_MIN = 4;
    /** A hint looks at no more entries than this. */
    private static final int FIRST_ENTRIES = 16;

    private final TimerHeap memory;

    // No chunk is empty but for one that is alone. The first one of all has no slots.
    Chunk head = new Chunk(0);
    private Chunk tail = head;
    /** The chunks that are not in use, linked through next. */
    private Chunk spare;
    private int spares;
    private int chunks;
    private int size;
    /** The last chunk that the sweep has visited, or null: it begins at the head. */
    private Chunk swept;

    /** {@code memory}: allocates chunks. */
    EntryFifo(TimerHeap memory) {
        this.memory = memory;
    }

    int size() {
        return size;
    }

    int capacity() {
        return chunks * CHUNK;
    }

    /** NEVER if there is none. */
    long firstKey() {
        return size == 0 ? Timeline.NEVER : head.keys[head.from];
    }

    /** There must be one, as for all below. */
    int firstSeq() {
        return head.seqs[head.from];
    }

    TimerNode first() {
        return head.nodes[head.from];
    }

    TimerNode last() {
        return tail.nodes[tail.to - 1];
    }

    /** As that of the heap: racy, a hint. */
    long earliestFrom(long from) {
        Chunk c = head;
        int i = c.from;
        for (int end = Math.min(c.to, i + FIRST_ENTRIES); i < end; i++) {
            if (c.keys[i] >= from) {
                return c.keys[i];
            }
        }
        return i < c.to || c.next != null ? from : Timeline.NEVER;
    }

    /** Shows the timers of the entries from this number to that one, until {@code look} says no; false if it did. */
    boolean forEach(int first, int end, Predicate<TimerNode> look) {
        int number = 0;
        for (Chunk c = head; c != null && number < end; c = c.next) {
            for (int i = c.from + Math.max(0, first - number); i < c.to && number + i - c.from < end; i++) {
                if (c.nodes[i].entry == c.seqs[i] && !look.test(c.nodes[i])) {
                    return false;
                }
            }
            number += c.to - c.from;
        }
        return true;
    }

    /** The same for a walk: shows so many of the next entries at most; returns how many. */
    int walk(EntryWalk walk, int most) {
        int visited = 0;
        for (Chunk c = walk.hasPassed(walk.chunk) ? walk.chunk : head; c != null; c = c.next) {
            walk.chunk = c;
            for (int i = c.from; i < c.to; i++) {
                if (walk.isAhead(c, i)) {
                    if (visited == most) {
                        return visited;
                    }
                    walk.visitInFifo(c, i);
                    visited++;
                }
            }
        }
        return visited;
    }

    // ---- at the end ----

    /** Whether an entry with this key belongs at the end, or near it. */
    boolean fits(long key) {
        return steps(key) >= 0;
    }

    /** In front of how many of the last entries one with this key belongs; -1 if that are too many. */
    private int steps(long key) {
        Chunk c = tail;
        int i = c.to;
        int most = size < MANY ? 0 : NEAR;
        for (int n = 0; n <= most && n < size; n++) {
            if (i == c.from) {
                c = c.prev;
                i = c.to;
            }
            i--;
            if (c.keys[i] <= key) {
                return n;
            }
        }
        return size == 0 ? 0 : -1;
    }

    /**
     * Makes room for an entry at the end.
     *
     * @throws OutOfMemoryError with nothing changed
     */
    void ensureRoom() {
        if (tail.to < tail.keys.length) {
            return;
        }
        Chunk c = spare;
        if (c == null) {
            c = memory.allocate(null, CHUNK);
            chunks++;
        } else {
            spare = c.next;
            spares--;
            c.next = null;
        }
        if (size == 0) {
            head = c;
        } else {
            c.prev = tail;
            tail.next = c;
        }
        tail = c;
    }

    /** There must be room, and the key must fit. Goes behind the entries with the same key. */
    void add(long key, int seq, TimerNode node) {
        Chunk c = tail;
        int i = c.to;
        for (int n = steps(key); n > 0; n--) {
            Chunk before = i > c.from ? c : c.prev;
            int last = (before == c ? i : before.to) - 1;
            c.set(i, before.keys[last], before.seqs[last], before.nodes[last]);
            c = before;
            i = last;
        }
        c.set(i, key, seq, node);
        tail.to++;
        size++;
    }

    /** Moves the last one to the heap. */
    void spill() {
        Chunk c = tail;
        int i = c.to - 1;
        memory.push(c.keys[i], c.seqs[i], c.nodes[i]);
        removeLast();
    }

    void removeLast() {
        Chunk c = tail;
        c.to--;
        c.nodes[c.to] = null;
        size--;
        unlinkIfEmpty(c);
    }

    void removeFirst() {
        Chunk c = head;
        c.nodes[c.from] = null;
        c.from++;
        size--;
        unlinkIfEmpty(c);
    }

    private void unlinkIfEmpty(Chunk c) {
        if (c.from < c.to) {
            return;
        }
        if (c == swept) {
            swept = c.prev;
        }
        c.from = 0;
        c.to = 0;
        if (head == tail) {
            return;
        }
        if (c == head) {
            head = c.next;
        } else {
            c.prev.next = c.next;
        }
        if (c == tail) {
            tail = c.prev;
        } else {
            c.next.prev = c.prev;
        }
        c.prev = null;
        c.next = spare;
        spare = c;
        spares++;
        trim();
    }

    /** As with the heap, a third may be unused. */
    private void trim() {
        while (spares > SPARE_MIN && spares * CHUNK > size >> 1) {
            spare = spare.next;
            spares--;
            chunks--;
        }
    }

    // ---- sweeps ----

    /** From the first entry on, none has been visited. */
    void beginSweep() {
        swept = null;
    }

    /** Whether there are entries that the sweep has not visited. */
    boolean isUnswept() {
        return size > 0 && swept != tail;
    }

    /**
     * Visits so many of the next entries at most, in whole chunks, or until so many were dropped as are wanted; returns how
     * many it has visited.
     */
    int sweep(Compactor compactor, int most, int wanted) {
        int visited = 0;
        int goal = size - wanted;
        while (isUnswept() && size > goal) {
            Chunk c = swept == null ? head : swept.next;
            int visits = c.to - c.from;
            if (visits > most - visited) {
                break;
            }
            sweepChunk(compactor, c);
            visited += visits;
        }
        return visited;
    }

    /** Until the end the chunk has all that it had, so an Error on the way may leave an entry twice, but loses none. */
    private void sweepChunk(Compactor compactor, Chunk c) {
        Chunk before = c.prev;
        int end = c.to;
        int to = c.from;
        for (int i = c.from; i < end; i++) {
            TimerNode t = c.nodes[i];
            int seq = c.seqs[i];
            if (!compactor.isStale(t, seq)) {
                if (before != null && before.to < CHUNK) {
                    before.set(before.to, c.keys[i], seq, t);
                    before.to++;
                    size++;
                } else {
                    c.set(to, c.keys[i], seq, t);
                    to++;
                }
            }
        }
        c.to = to;
        size -= end - to;
        for (int i = to; i < end; i++) {
            c.nodes[i] = null;
        }
        swept = c;
        unlinkIfEmpty(c);
    }
}
