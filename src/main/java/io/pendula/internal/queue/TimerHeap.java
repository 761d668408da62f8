package io.pendula.internal.queue;

import java.util.Arrays;

/**
 * All filed timers of a queue, as entries (deadline, timer). They are ordered by deadline, and equal deadlines by arrival.
 * A 4-ary min-heap of {@link Block}s, each with up to a thousand entries. Guarded by the queue's lock.
 *
 * <p>New entries go to the youngest block, which is in the processor's cache. So the cost of a push does not depend on the
 * number of timers. If deadlines arrive in order, as with equal delays, each block is a sorted run, and neither a push nor
 * a pop sifts. Timers armed at about the same time are in one block. Timeouts armed together are mostly stopped together.
 * So a sweep visits whole blocks, from the oldest on, and finds most of their entries stale.
 *
 * <p>A heap begins with one block and grows by one block at a time. So growth copies at most a thousand entries. Rarely it
 * also copies the heap of blocks, which is a thousandth as long. A nearly empty block is united with its neighbour. Blocks
 * are reused, because new ones cost the garbage collector much: it copies them, and finds references to young timers there.
 *
 * <p>Each entry has a number. The timer notes the number of its newest entry ({@link TimerNode#entry}), and no other entry
 * of this timer is live.
 */
public class TimerHeap {
    private static final int ROOT = Block.ROOT;
    /** The number of entries that a block has room for. */
    static final int BLOCK = Block.SLOTS - ROOT;
    /** This many unused blocks are kept for any number of entries. */
    static final int SPARE_MIN = 4;
    /** This many sweeps skip a block in which fewer than one in eight entries was stale. */
    private static final int RESTS = 7;
    private static final int FEW_SHIFT = 3;
    /** earliestFrom reads the first three levels of the heap of blocks. */
    private static final int FIRST_LEVELS = 21;

    /** The oldest block. The list is in the order of age. A block is empty only if it is the only one. */
    Block head = new Block();
    /** The youngest block, which takes new entries. */
    private Block tail = head;
    /** The unused blocks, linked through next. */
    private Block spare;
    private int spares;
    private int size;
    private int capacity = BLOCK;
    /** The number of the next entry. */
    int nextSeq;
    /** The last block that the sweep has visited; null if it begins at the head. */
    private Block swept;
    /** The age of the youngest block when the sweep began. */
    private int sweepEnd;

    // The heap of blocks, ordered by the first entry of each. Slots as in a block. An empty block is not in it.
    private long[] keys = new long[ROOT + 1];
    private int[] seqs = new int[ROOT + 1];
    private Block[] blocks = new Block[ROOT + 1];
    private int end = ROOT;

    public final int size() {
        return size;
    }

    /** The number of entries that fit without growth. */
    public final int capacity() {
        return capacity;
    }

    // ---- the top ----

    /** NEVER if the heap is empty. */
    public final long topKey() {
        return end == ROOT ? Timeline.NEVER : keys[ROOT];
    }

    /** The heap must not be empty. */
    final int topSeq() {
        return seqs[ROOT];
    }

    /** Null if the heap is empty. */
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
     * Gives the top entry a later key, behind the entries that already have that key. If {@code hasRoom}, an entry of a run
     * moves to the youngest block, so that the rest of the run stays sorted.
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
     * The earliest key among the first entries of the first blocks that is not before {@code at}. If all of these entries of
     * a block are earlier, {@code at}; NEVER if there is none. Called without the lock and racy, so the result is a hint.
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

    /** Allocates everything before it replaces anything, so a failure leaves the heap unchanged. */
    void grow() {
        Block b = allocate();
        int all = ROOT + capacity / BLOCK + 1; // room for all blocks, so that a push allocates nothing
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

    /** Not private, so that tests can make it fail. */
    Block allocate() {
        return new Block();
    }

    /**
     * Gives unused blocks back. A third of a large heap's capacity may stay unused, and a small heap keeps all its blocks.
     * Otherwise drains and sweeps, which alternate, would make the heap grow and shrink again and again.
     */
    void trim() {
        while (spares > SPARE_MIN && spares * BLOCK > size >> 1) {
            spare = spare.next;
            spares--;
            capacity -= BLOCK;
        }
    }

    // ---- the youngest block ----

    /** Makes an entry, from now on the live entry of this timer. There must be room for it. */
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

    /** The first entry of a block has changed, or the block has become empty. */
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

    /** Puts a block into the hole, above or below. */
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
     * Moves a block with few entries into the next older one, or the next younger one into it. Not if a sweep has visited,
     * or will visit, only one of the two. The youngest block takes part in none of this, because it fills up anyway.
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
        into.age = b.age; // so a walk that has visited only the older block visits both
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
            if (isInSweep(tail) && !isInSweep(b)) {
                sweepEnd = b.age; // the new tail stays in the sweep
            }
            tail.age = b.age; // it takes new entries again, so a walk that has visited it visits it again
        } else {
            b.next.prev = b.prev;
        }
        keep(b);
    }

    // ---- walks: all blocks, from the oldest on ----

    /** The next block of a walk that has visited all ages up to {@code age}; the youngest block if there is no other. */
    final Block after(int age) {
        Block b = head;
        while (b != tail && b.age - age <= 0) {
            b = b.next;
        }
        return b;
    }

    // ---- sweeps ----

    /** Makes the next sweep begin with the oldest block. */
    final void rewindSweep() {
        swept = null;
    }

    /** Begins a sweep where the last one has ended. It visits the blocks that exist now. */
    final void beginSweep() {
        sweepEnd = tail.age;
    }

    /** Whether the sweep has visited all blocks that existed when it began. */
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
     * Drops the entries that {@code compactor} finds stale in the next blocks. Ends when it has dropped {@code wanted}
     * entries, when the next block would exceed {@code most} visits, or at the end. Returns the number of visits.
     *
     * <p>Skips a block in which an earlier sweep found few stale entries, unless {@code all}. Otherwise each sweep would
     * visit millions of timers that are due much later. A skipped block counts as one visit.
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
