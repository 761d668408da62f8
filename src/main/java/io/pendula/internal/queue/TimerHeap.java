package io.pendula.internal.queue;

import java.util.Arrays;

/**
 * All timers of a queue that are filed, as entries (deadline, timer), the earliest first, and of equal ones the first that
 * came: a 4-ary min-heap of {@link Block}s, each with up to a thousand entries. Guarded by the queue's lock.
 *
 * <p>A new entry goes to the youngest block, which lies in the processor's cache, so a push costs the same however many
 * timers there are. Where deadlines come in order, as of timers with one and the same delay, each block is a sorted run, and
 * neither a push nor a pop sifts. What was armed at about the same time lies in one block, and of timeouts that is stopped
 * at about the same time. So a sweep takes the blocks from the oldest on, each as a whole, and finds them mostly stale.
 *
 * <p>A heap begins with a block and grows by a block at a time, so that no growth copies more than a thousand entries, and, seldom, the heap of
 * blocks, which is a thousandth as long. A block that becomes nearly empty is united with its neighbour. Blocks are used
 * again: new ones instead cost the collector much, since it copies them, and finds references to young timers in them.
 *
 * <p>Each entry has a number, which its timer notes ({@link TimerNode#entry}): it is the live one, if any is.
 */
public class TimerHeap {
    private static final int ROOT = Block.ROOT;
    /** Entries of a block. */
    static final int BLOCK = Block.SLOTS - ROOT;
    /** This many blocks are kept for use, however few entries there are. */
    static final int SPARE_MIN = 4;
    /** So many sweeps leave out a block in which fewer than one of eight entries was stale. */
    private static final int RESTS = 7;
    private static final int FEW_SHIFT = 3;
    /** A hint looks at the first three levels of the heap of blocks. */
    private static final int FIRST_LEVELS = 21;

    /** In the order of their age. None is empty but for one that is alone. */
    Block head = new Block();
    /** The youngest, which takes new entries. */
    private Block tail = head;
    /** The blocks that are not in use, linked through next. */
    private Block spare;
    private int spares;
    private int size;
    private int capacity = BLOCK;
    /** The number of the next entry. */
    int nextSeq;
    /** The last block that the sweep has visited, or null: it begins at the head. */
    private Block swept;
    /** The youngest block when the sweep began. */
    private int sweepEnd;

    // The heap of blocks, by the first entry of each; slots as in a block. An empty block is not in it.
    private long[] keys = new long[ROOT + 1];
    private int[] seqs = new int[ROOT + 1];
    private Block[] blocks = new Block[ROOT + 1];
    private int end = ROOT;

    public final int size() {
        return size;
    }

    /** How many entries there is memory for. */
    public final int capacity() {
        return capacity;
    }

    // ---- the top ----

    /** NEVER if there is none. */
    public final long topKey() {
        return end == ROOT ? Timeline.NEVER : keys[ROOT];
    }

    /** There must be one. */
    final int topSeq() {
        return seqs[ROOT];
    }

    /** Null if there is none. */
    public final TimerNode top() {
        return end == ROOT ? null : blocks[ROOT].node();
    }

    final void pop() {
        Block b = blocks[ROOT];
        b.pop();
        size--;
        changed(b);
    }

    /**
     * Gives the top entry a later key; it goes behind the entries that have that key already. Out of a run it is taken to
     * the youngest block if {@code hasRoom}, since what is left there stays in order then.
     */
    final void rekeyTop(long key, boolean hasRoom) {
        Block b = blocks[ROOT];
        TimerNode t = b.node();
        if (b.isRun() && hasRoom) {
            pop();
            push(key, t);
        } else {
            t.entry = nextSeq;
            b.rekey(key, nextSeq++);
            changed(b);
        }
    }

    /**
     * The earliest key that is not before {@code at}, among the first entries of the first blocks; if all of these are
     * earlier, {@code at}; NEVER if there is none. Racy, without the lock: a hint.
     */
    long earliestFrom(long at) {
        Block[] b = blocks;
        int looks = Math.min(Math.min(end, ROOT + FIRST_LEVELS), b.length);
        long earliest = Timeline.NEVER;
        for (int s = ROOT; s < looks && earliest > at; s++) {
            Block block = b[s];
            if (block != null) {
                earliest = Math.min(earliest, block.earliestFrom(at));
            }
        }
        return earliest;
    }

    // ---- growth ----

    /** Whether the next push needs no memory. */
    final boolean hasRoom() {
        return tail.hasSlot() || spare != null || tail.isHalfFree();
    }

    /**
     * Makes room for one more entry, so that the next push cannot fail.
     *
     * @throws OutOfMemoryError with the heap unchanged
     */
    final void ensureRoom() {
        if (hasRoom()) {
            return;
        }
        try {
            grow();
        } catch (OutOfMemoryError e) {
            if (!tail.hasGap()) {
                throw e;
            }
            tail.closeGap();
        }
    }

    /** Everything is allocated before anything is replaced, so a failure leaves the heap as it was. */
    void grow() {
        Block b = allocate();
        int all = ROOT + capacity / BLOCK + 1; // the heap of blocks has room for all of them, so that a push needs none
        if (all > blocks.length) {
            int more = Math.max(all, blocks.length * 2);
            long[] moreKeys = Arrays.copyOf(keys, more);
            int[] moreSeqs = Arrays.copyOf(seqs, more);
            blocks = Arrays.copyOf(blocks, more);
            keys = moreKeys;
            seqs = moreSeqs;
        }
        keep(b);
        capacity += BLOCK;
    }

    private void keep(Block b) {
        b.prev = null;
        b.next = spare;
        spare = b;
        spares++;
    }

    /** Not private, so that tests can let it fail. */
    Block allocate() {
        return new Block();
    }

    /**
     * Gives blocks back that are not used. A third of what a large heap has may be unused, and a small heap is left
     * alone: filling from an inbox and sweeping take turns, and would make it grow and shrink for ever.
     */
    void trim() {
        while (spares > SPARE_MIN && spares * BLOCK > size >> 1) {
            spare = spare.next;
            spares--;
            capacity -= BLOCK;
        }
    }

    // ---- the youngest block ----

    /** Makes an entry, which is the live one of this timer from now on. There must be room for it. */
    final void push(long key, TimerNode node) {
        if (!tail.hasSlot()) {
            makeSlot();
        }
        Block b = tail;
        int seq = nextSeq++;
        node.entry = seq;
        size++;
        if (b.push(key, seq, node)) {
            changed(b);
        }
    }

    private void makeSlot() {
        if (tail.isHalfFree()) {
            tail.closeGap();
            return;
        }
        Block b = spare;
        spare = b.next;
        spares--;
        b.age = tail.age + 1;
        b.rests = 0;
        b.next = null;
        b.prev = tail;
        tail.next = b;
        tail = b;
    }

    // ---- the heap of blocks ----

    /** The first entry of a block is another one, or there is none any more. */
    private void changed(Block b) {
        if (b.size() == 0) {
            leaveHeap(b);
            if (head != tail) {
                unlink(b);
            }
            return;
        }
        boolean isNew = b.place == 0;
        place(b, isNew ? end++ : b.place);
        if (b.size() <= BLOCK / 4 && b != tail && !isNew) {
            unite(b);
        }
    }

    private void leaveHeap(Block b) {
        int hole = b.place;
        if (hole == 0) {
            return;
        }
        b.place = 0;
        Block last = blocks[--end];
        blocks[end] = null;
        if (last != b) {
            place(last, hole);
        }
    }

    /** Puts a block where a hole is, above or below. */
    private void place(Block b, int hole) {
        long key = b.key();
        int seq = b.seq();
        int s = hole;
        for (int parent = (s >> 2) + 2; s > ROOT && Block.before(key, seq, keys[parent], seqs[parent]); parent = (s >> 2) + 2) {
            move(parent, s);
            s = parent;
        }
        for (int child = s - 2 << 2; child < end; child = s - 2 << 2) {
            int min = child + 3 < end ? Block.minOfFour(keys, seqs, child) : Block.minOf(keys, seqs, child, end);
            if (Block.before(key, seq, keys[min], seqs[min])) {
                break;
            }
            move(min, s);
            s = min;
        }
        keys[s] = key;
        seqs[s] = seq;
        blocks[s] = b;
        b.place = s;
    }

    private void move(int s, int into) {
        keys[into] = keys[s];
        seqs[into] = seqs[s];
        blocks[into] = blocks[s];
        blocks[into].place = into;
    }

    /**
     * A block with few entries goes into the one before, or takes what is in the one behind. Not if a sweep has visited one
     * of the two and not the other, or will not come to the other, nor with the youngest, which fills up anyway.
     */
    private void unite(Block b) {
        if (b.prev != null && mayUnite(b.prev, b)) {
            moveInto(b.prev, b);
        } else if (b.next != tail && mayUnite(b, b.next)) {
            moveInto(b, b.next);
        }
    }

    private boolean mayUnite(Block older, Block younger) {
        return older != swept && isInSweep(older) == isInSweep(younger)
                && older.size() + younger.size() <= BLOCK * 3 / 4;
    }

    private void moveInto(Block into, Block b) {
        into.takeAll(b);
        into.age = b.age; // so a walk that has visited the older one alone visits both
        into.rests = 0;
        leaveHeap(b);
        unlink(b);
        place(into, into.place);
    }

    private void unlink(Block b) {
        if (b == swept) {
            swept = b.prev;
        }
        if (b == head) {
            head = b.next;
        } else {
            b.prev.next = b.next;
        }
        if (b == tail) {
            tail = b.prev;
        } else {
            b.next.prev = b.prev;
        }
        keep(b);
    }

    // ---- all of them, block by block, from the oldest on ----

    /** The next block of a walk that has visited the ages up to this one; the youngest again if there is no other. */
    final Block after(int age) {
        Block b = head;
        while (b != tail && b.age - age <= 0) {
            b = b.next;
        }
        return b;
    }

    // ---- sweeps ----

    /** None has been visited. */
    final void rewindSweep() {
        swept = null;
    }

    /** A sweep goes on where the last one has ended, and visits what is there now. */
    final void beginSweep() {
        sweepEnd = tail.age;
    }

    /** Whether all have been visited that were there when the sweep began. */
    final boolean isSwept() {
        return nextToSweep() == null;
    }

    private Block nextToSweep() {
        Block b = swept == null ? head : swept.next;
        return b != null && b.size() > 0 && isInSweep(b) ? b : null;
    }

    private boolean isInSweep(Block b) {
        return b.age - sweepEnd <= 0;
    }

    /**
     * Drops what {@code compactor} finds stale in the next blocks. Visits so many entries at most, and goes on until all have
     * been visited or so many were dropped as are wanted; returns how many it has visited. Unless {@code all} are to be
     * visited, a block in which few were stale is left out the next times: among millions of timers that are far away
     * others come and go, and each sweep would look at those, too. A block that is left out counts as one visit.
     */
    final int sweep(Compactor compactor, int most, int wanted, boolean all) {
        int goal = size - wanted;
        int visited = 0;
        for (Block b = nextToSweep(); b != null && visited < most && size > goal; b = nextToSweep()) {
            if (b.rests > 0 && !all) {
                b.rests--;
                visited++;
                swept = b;
            } else if (b.size() > most - visited) {
                break;
            } else {
                visited += b.size();
                sweep(b, compactor);
            }
        }
        return visited;
    }

    private void sweep(Block b, Compactor compactor) {
        int before = b.size();
        try {
            b.sweep(compactor);
        } finally {
            int dropped = before - b.size();
            b.rests = b != tail && dropped << FEW_SHIFT < before ? RESTS : 0;
            size -= dropped;
            swept = b;
            if (dropped > 0) {
                changed(b);
            }
        }
    }
}
