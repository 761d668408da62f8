package io.pendula.internal.queue;

/**
 * All entries of a queue. An entry whose key is no lower than nearly all of those before it goes to a {@link EntryFifo},
 * any other to the {@link TimerHeap}. Single-threaded; its owner locks.
 *
 * <p>Timers with one and the same delay are armed in the order of their deadlines, or nearly so if several threads arm
 * them, and so are the next firings of tickers with the same period. In the fifo they cost a few nanoseconds each, however
 * many there are; in a heap of 100,000 a hundred and more. The top, the first of all entries, is that of the heap or that
 * of the fifo.
 *
 * <p>A single timer with a long delay must not keep all others out of the fifo until it is due: an entry with a lower
 * key sends the last one or two of the fifo to the heap. So each entry is moved once at most. Of timers with two delays
 * those with one of them stay in the fifo. If keys come in no order, the fifo is of no use, and is given a rest.
 *
 * <p>Each entry has a number, which its timer notes ({@link TimerNode#entry}): it is the live one, if any is.
 */
final class Entries {
    /** After so many entries that went to the fifo it is seen how many of them the heap had to take after all. */
    static final int TRIAL = 1024;
    /** If these were more, nothing goes to the fifo for a while: above a half, as of two delays in turn one stays. */
    static final int TRIAL_SPILLS = TRIAL * 5 / 8;
    /** So many pushes. */
    static final int REST = 16 * TRIAL;

    final TimerHeap heap;
    /** Null until it is begun. Volatile for earliestFrom, which reads it without the lock. */
    volatile EntryFifo fifo;
    /** There was no memory for the fifo to grow; no other attempt is made before the heap has grown. */
    private boolean isShut;
    boolean isResting;
    /** With this number the rest ends. Not a count: threads that stop timers read this object. */
    int restUntil;

    Entries(TimerHeap heap) {
        this.heap = heap;
    }

    int size() {
        return heap.size() + fifoSize();
    }

    int fifoSize() {
        EntryFifo f = fifo;
        return f == null ? 0 : f.size();
    }

    /** How many entries there is memory for. */
    int capacity() {
        EntryFifo f = fifo;
        return heap.capacity() + (f == null ? 0 : f.capacity());
    }

    // Entries are numbered from 0 to size - 1: those of the heap, then those of the fifo.

    TimerNode node(int i) {
        return i < heap.size() ? heap.node(i) : fifo.node(i - heap.size());
    }

    long key(int i) {
        return i < heap.size() ? heap.key(i) : fifo.key(i - heap.size());
    }

    int seq(int i) {
        return i < heap.size() ? heap.seq(i) : fifo.seq(i - heap.size());
    }

    int nextSeq() {
        return heap.nextSeq();
    }

    // ---- the top ----

    /** NEVER if there is none. */
    long topKey() {
        EntryFifo f = fifo;
        return f == null ? heap.topKey() : Math.min(heap.topKey(), f.firstKey());
    }

    /** There must be one. */
    int topSeq() {
        EntryFifo f = fifo;
        return isTopIn(f) ? f.firstSeq() : heap.seq(0);
    }

    TimerNode top() {
        EntryFifo f = fifo;
        return isTopIn(f) ? f.first() : heap.top();
    }

    private boolean isTopIn(EntryFifo f) {
        if (f == null || f.isEmpty()) {
            return false;
        }
        long d = f.firstKey() - heap.topKey();
        return d < 0 || d == 0 && (heap.size() == 0 || f.firstSeq() - heap.seq(0) < 0);
    }

    void pop() {
        EntryFifo f = fifo;
        if (isTopIn(f)) {
            f.removeFirst();
        } else {
            heap.pop();
        }
    }

    /** Whether there is room for the top entry under this key, which is later than its own. */
    boolean hasRoomToRekey(long key) {
        EntryFifo f = fifo;
        return !isTopIn(f) || staysFirst(f, key) || hasRoom(key);
    }

    /** Gives the top entry a later key, for which there is room; it goes behind the entries that have that key already. */
    void rekeyTop(long key) {
        EntryFifo f = fifo;
        if (!isTopIn(f)) {
            heap.top().entry = heap.nextSeq();
            heap.rekeyTop(key);
        } else if (staysFirst(f, key)) {
            f.first().entry = heap.nextSeq();
            f.rekeyFirst(key, heap.takeSeq());
        } else {
            TimerNode node = f.first();
            f.removeFirst();
            push(key, node);
        }
    }

    private static boolean staysFirst(EntryFifo f, long key) {
        return f.size() == 1 || key < f.secondKey();
    }

    /** As that of the heap: racy, a hint. */
    long earliestFrom(long from) {
        EntryFifo f = fifo;
        long inHeap = heap.earliestFrom(from);
        return f == null ? inHeap : Math.min(inHeap, f.earliestFrom(from));
    }

    // ---- growth ----

    /**
     * Makes room in the heap, so that the next push cannot fail.
     *
     * @throws OutOfMemoryError with nothing changed
     */
    void ensureRoom() {
        if (heap.size() == heap.capacity()) {
            heap.ensureRoom();
            isShut = false;
        }
    }

    /** Whether the next push, under this key, needs no memory. */
    boolean hasRoom(long key) {
        EntryFifo f = fifo;
        return heap.size() < heap.capacity() || f != null && !isResting && f.hasRoom() && (f.isEmpty() || key >= f.lastKey());
    }

    /** Makes an entry, which is the live one of this timer from now on. There must be room for it. */
    void push(long key, TimerNode node) {
        int seq = heap.takeSeq();
        node.entry = seq;
        if (isResting && seq - restUntil >= 0) {
            isResting = false;
        }
        if (!isResting && fits(key)) {
            fifo.add(key, seq, node);
            countTry(seq);
        } else {
            heap.push(key, seq, node);
        }
    }

    /** Makes the fifo ready for this key, if it can. */
    private boolean fits(long key) {
        EntryFifo f = fifo;
        if (f == null) {
            return beginFifo();
        }
        // Two, or a second one would stay in the way for ever. The last slot of the heap may be for this key.
        for (int i = 0; i < 2 && !f.fits(key) && heap.capacity() - heap.size() > 1; i++) {
            int last = f.size() - 1;
            heap.push(f.key(last), f.seq(last), f.node(last));
            f.removeLast();
            f.spilled++;
        }
        return f.fits(key) && makeRoom(f);
    }

    private void countTry(int seq) {
        EntryFifo f = fifo;
        if (++f.tried == TRIAL) {
            isResting = f.spilled > TRIAL_SPILLS;
            restUntil = seq + REST;
            f.tried = 0;
            f.spilled = 0;
        }
    }

    private boolean beginFifo() {
        if (!isShut) {
            try {
                EntryFifo f = new EntryFifo();
                if (makeRoom(f)) {
                    fifo = f;
                }
            } catch (OutOfMemoryError e) {
                isShut = true;
            }
        }
        return fifo != null;
    }

    private boolean makeRoom(EntryFifo f) {
        if (!f.hasRoom() && !isShut) {
            try {
                f.addChunk(heap.allocate(null, EntryFifo.CHUNK));
            } catch (OutOfMemoryError e) {
                isShut = true; // the heap has room
            }
        }
        return f.hasRoom();
    }

    // ---- sweeps ----

    void beginSweep() {
        if (fifo != null) {
            fifo.beginSweep();
        }
    }

    boolean isFifoUnswept() {
        return fifo != null && fifo.isUnswept();
    }

    int sweepFifo(Compactor compactor, int most, int wanted) {
        return fifo.sweep(compactor, most, wanted);
    }

    // ---- removal ----

    /** As {@link TimerHeap#removeAt}. */
    void removeFromHeap(int i) {
        heap.removeAt(i);
    }

    /** The one with the highest number. */
    void removeLast() {
        if (fifoSize() == 0) {
            heap.removeAt(heap.size() - 1);
        } else {
            fifo.removeLast();
        }
    }

    void trim() {
        heap.trim();
    }

    void clear() {
        heap.clear();
        fifo = null;
    }
}
