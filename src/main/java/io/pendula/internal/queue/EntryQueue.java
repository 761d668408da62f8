package io.pendula.internal.queue;

import java.util.function.Predicate;

/**
 * All timers that are filed, as entries (deadline, timer), the earliest first. An entry whose key is no lower than nearly
 * all of those before it goes to a {@link EntryFifo}, any other to the {@link TimerHeap}. Single-threaded; its owner locks.
 *
 * <p>Timers with one and the same delay are armed in the order of their deadlines, or nearly so if several threads arm
 * them, and so are the next firings of tickers with the same period. In the fifo they cost a few nanoseconds each, however
 * many there are; in a heap of 100,000 a hundred and more. The top, the first of all entries, is that of the heap or that
 * of the fifo.
 *
 * <p>A single timer with a long delay must not keep all others out of the fifo until it is due: an entry with a lower
 * key sends the last one or two of the fifo to the heap. So each entry is moved once at most. Of timers with two delays
 * those with one of them stay in the fifo. If keys come in no order, the fifo is of no use, and is given a rest. So it is
 * if there is no memory for it to grow. An entry needs no place in the fifo: the heap always has room for it.
 *
 * <p>Each entry has a number, which its timer notes ({@link TimerNode#entry}): it is the live one, if any is.
 */
final class EntryQueue {
    /** What each entry that is sent to the heap adds to {@link #disorder}, and each that the fifo takes takes away. */
    private static final int SPILL = 5;
    /** So the fifo may lose three fifths of what it takes: above a half, as of two delays in turn one stays. */
    private static final int KEEP = 3;
    /** With so much disorder the fifo rests: after a thousand entries in no order. */
    private static final int MUCH_DISORDER = 2048;
    /** So many pushes. */
    static final int REST = 16 * 1024;

    /** The hand of a sweep that is in the fifo, which knows how far it is. */
    private static final int IN_FIFO = -1;

    final TimerHeap heap;
    final EntryFifo fifo;
    /** The number of the next entry. */
    int nextSeq;
    private int disorder;
    /** So many pushes more do not try the fifo. */
    int rest;
    /** Of the heap's entries the sweep has visited those from this one on. */
    private int hand = IN_FIFO;
    /** Null if none is under way. */
    EntryWalk walk;

    EntryQueue(TimerHeap heap) {
        this.heap = heap;
        this.fifo = new EntryFifo(heap);
    }

    int size() {
        return heap.size() + fifo.size();
    }

    /** How many entries there is memory for. */
    int capacity() {
        return heap.capacity() + fifo.capacity();
    }

    // ---- the top ----

    /** NEVER if there is none. */
    long topKey() {
        return Math.min(heap.topKey(), fifo.firstKey());
    }

    /** There must be one. */
    int topSeq() {
        return isTopInFifo() ? fifo.firstSeq() : heap.seq(0);
    }

    TimerNode top() {
        return isTopInFifo() ? fifo.first() : heap.top();
    }

    /** Else giving the top entry another key needs no memory. */
    boolean isTopInFifo() {
        if (fifo.size() == 0) {
            return false;
        }
        long d = fifo.firstKey() - heap.topKey();
        return d < 0 || d == 0 && (heap.size() == 0 || fifo.firstSeq() - heap.seq(0) < 0);
    }

    void pop() {
        if (isTopInFifo()) {
            fifo.removeFirst();
        } else {
            heap.removeAt(0);
        }
    }

    /** Gives the top entry a later key, for which there is room; it goes behind the entries that have that key already. */
    void rekeyTop(long key) {
        TimerNode node = top();
        if (walk != null) {
            walk.show(node);
        }
        if (isTopInFifo()) {
            fifo.removeFirst();
            push(key, node);
        } else {
            node.entry = nextSeq;
            heap.rekeyTop(key, nextSeq++);
        }
    }

    /** As that of the heap: racy, a hint. */
    long earliestFrom(long from) {
        return Math.min(heap.earliestFrom(from), fifo.earliestFrom(from));
    }

    // ---- growth ----

    /** Whether the next push needs no memory. */
    boolean hasRoom() {
        return heap.size() < heap.capacity();
    }

    void trim() {
        heap.trim();
    }

    /** Makes an entry, which is the live one of this timer from now on. There must be room for it. */
    void push(long key, TimerNode node) {
        int seq = nextSeq++;
        node.entry = seq;
        if (fits(key)) {
            fifo.add(key, seq, node);
            disorder = Math.max(0, disorder - KEEP);
        } else {
            beforeRise(heap.size());
            heap.push(key, seq, node);
        }
        if (walk != null) {
            walk.show(node);
        }
    }

    private void beforeRise(int place) {
        if (walk != null) {
            walk.beforeRise(place);
        }
    }

    /** Makes the fifo ready for this key, if it can. */
    private boolean fits(long key) {
        if (rest > 0) {
            rest--;
            return false;
        }
        // Two, or a second one would stay in the way for ever. The last slot of the heap may be for this key.
        boolean fits = fifo.fits(key);
        for (int i = 0; i < 2 && !fits && heap.capacity() - heap.size() > 1; i++) {
            beforeRise(heap.size());
            fifo.spill();
            disorder += SPILL;
            fits = fifo.fits(key);
        }
        try {
            if (fits) {
                fifo.ensureRoom();
            }
        } catch (OutOfMemoryError e) {
            fits = false;
            disorder = MUCH_DISORDER;
        }
        if (disorder >= MUCH_DISORDER) {
            disorder = 0;
            rest = REST;
        }
        return fits;
    }

    // ---- all of them, numbered from 0 to size - 1 ----

    /**
     * Shows the timers of the entries from this number to that one that may be live, until {@code look} says no; false
     * if it did.
     */
    boolean forEach(int first, int end, Predicate<TimerNode> look) {
        int inHeap = heap.size();
        for (int i = first; i < Math.min(end, inHeap); i++) {
            TimerNode t = heap.node(i);
            if (t.entry == heap.seq(i) && !look.test(t)) {
                return false;
            }
        }
        return fifo.forEach(first - inHeap, end - inHeap, look);
    }

    /** The timer of the entry that removeLast removes. */
    TimerNode last() {
        return fifo.size() == 0 ? heap.node(heap.size() - 1) : fifo.last();
    }

    void removeLast() {
        if (fifo.size() == 0) {
            heap.removeAt(heap.size() - 1);
        } else {
            fifo.removeLast();
        }
    }

    /** Goes on with the walk: visits so many of the entries at most, and returns how many. */
    int walkOn(int most) {
        int visited = walk.isInHeap() ? 0 : fifo.walk(walk, most);
        return visited < most ? visited + walk.goOnInHeap(most - visited) : visited;
    }

    // ---- sweeps ----

    /** None has been visited. */
    void beginSweep() {
        hand = IN_FIFO;
        fifo.beginSweep();
    }

    /** Whether all have been visited. */
    boolean isSwept() {
        return hand == 0;
    }

    /**
     * Drops what {@code compactor} finds stale among the next entries. Visits so many at most, and goes on until all have
     * been visited or so many were dropped as are wanted; returns how many it has visited.
     */
    int sweep(Compactor compactor, int most, int wanted) {
        int goal = size() - wanted;
        int visited = 0;
        if (hand == IN_FIFO) {
            visited = fifo.sweep(compactor, most, wanted);
            if (fifo.isUnswept()) {
                return visited;
            }
            hand = heap.size();
        }
        hand = Math.min(hand, heap.size());
        for (; hand > 0 && visited < most && size() > goal; visited++) {
            int i = hand - 1;
            if (!compactor.isStale(heap.node(i), heap.seq(i))) {
                hand = i;
                continue;
            }
            int last = heap.seq(heap.size() - 1);
            beforeRise(i);
            heap.removeAt(i);
            if (i >= heap.size() || heap.seq(i) == last) {
                hand = i;
            }
        }
        return visited;
    }
}
