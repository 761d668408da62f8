package io.pendula.internal.queue;

/**
 * Goes through the entries of a queue, round after round, and drops those that are stale: in a round the fifo from the
 * first entry on, as of timeouts most are stopped long before they are due, then the heap from the last entry on. It may
 * stop after each entry, and later goes on from there. Guarded by the queue's lock.
 */
final class Sweep {
    /*
     * A round visits each entry that was there when it began, however many are removed meanwhile: in the heap an entry
     * that takes the place of a removed one comes from the end, which has been visited, or from a child, and so comes
     * nearer to the top. If it rises instead, its former parents come down; the one that comes to where the hand is, is
     * visited there. An entry that is pushed or re-keyed meanwhile may bring one that was not visited behind the hand.
     * Such a round is not quiet; what it has missed has its turn in the next one.
     */

    private final Entries entries;
    private final TimerHeap heap;
    private final Compactor compactor;

    /** A round is under way, if only for some of the entries. */
    private boolean begun;
    private boolean inHeap;
    /** In the heap, those from this one on have been visited. */
    private int hand;
    // As of when the round began.
    private int nextSeq;
    private long everStale;

    Sweep(Entries entries, Compactor compactor) {
        this.entries = entries;
        this.heap = entries.heap;
        this.compactor = compactor;
    }

    boolean isBegun() {
        return begun;
    }

    void begin() {
        begun = true;
        inHeap = false;
        entries.beginSweep();
        nextSeq = entries.nextSeq();
        everStale = compactor.everStale();
    }

    /** Whether nothing was filed or re-keyed, nor became stale or live, since the round began. */
    boolean isQuiet() {
        return nextSeq == entries.nextSeq() && everStale == compactor.everStale();
    }

    /**
     * Visits so many entries at most, and goes on until the round has come to its end or so many were dropped as are
     * wanted; returns how many it has visited.
     */
    int visit(int most, int wanted) {
        int before = entries.size();
        int visited = inHeap || !entries.isFifoUnswept() ? 0 : entries.sweepFifo(compactor, most, wanted);
        if (!inHeap && !entries.isFifoUnswept()) {
            inHeap = true;
            hand = heap.size();
        }
        if (inHeap) {
            visited += visitHeap(most - visited, wanted - (before - entries.size()));
            begun = hand > 0;
        }
        return visited;
    }

    private int visitHeap(int most, int wanted) {
        int visited = 0;
        int dropped = 0;
        int h = Math.min(hand, heap.size());
        for (; h > 0 && visited < most && dropped < wanted; visited++) {
            int i = h - 1;
            if (!compactor.isStale(heap.node(i), heap.seq(i))) {
                h = i;
                continue;
            }
            int last = heap.seq(heap.size() - 1);
            entries.removeFromHeap(i);
            dropped++;
            if (i >= heap.size() || heap.seq(i) == last) {
                h = i;
            }
        }
        hand = h;
        return visited;
    }
}
