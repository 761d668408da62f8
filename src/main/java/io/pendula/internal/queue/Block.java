package io.pendula.internal.queue;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Up to a thousand entries (deadline, number, timer) of a {@link TimerHeap}. While entries arrive in the order of their
 * keys, or nearly so, the block is a sorted run. The first entry is removed in front, and new ones are added at the end.
 * The first entry that does not fit makes the block a 4-ary heap. Guarded by the queue's lock.
 *
 * <p>Keys have their own array, so a sift touches one or two cache lines per level instead of four timers. Timers do not
 * know their index: writing it at each move would double the cost, and lazy deletion does not need it.
 *
 * <p>The root has slot 3. The children of slot {@code s} have {@code 4 (s - 2)} and the next three slots, so four siblings
 * are adjacent. The number that orders equal keys costs one {@code int} per entry. The smallest of four children is found
 * without a branch that the processor could mispredict. Numbers are compared only if two keys are equal. They are compared
 * by difference, so they may wrap around.
 */
final class Block {
    static final int ROOT = 3;
    /** 16 KiB in three arrays, with compressed references: a block in use fits into the first-level cache. */
    static final int SLOTS = 1024;
    /** In a run a new entry passes at most this many others, because more steps would cost more than a sift. */
    static final int NEAR = 8;
    /** earliestFrom reads this many entries of a run, or the first three levels of a heap. */
    private static final int FIRST_OF_RUN = 16;
    private static final int FIRST_LEVELS = 21;

    final long[] keys = new long[SLOTS];
    final int[] seqs = new int[SLOTS];
    final TimerNode[] nodes = new TimerNode[SLOTS];
    /** Entries are in the slots from here (ROOT in a heap) to before {@code to}. */
    int from = ROOT;
    int to = ROOT;
    private boolean isRun = true;

    // Used by the TimerHeap that has the block.
    Block prev;
    Block next;
    /** Blocks are numbered in the order in which they came into use. */
    int age;
    /** The block's slot in the heap of blocks; 0 if it is not in it. */
    int place;
    /** The number of sweeps that will still skip the block. */
    int rests;

    int size() {
        return to - from;
    }

    boolean isRun() {
        return isRun;
    }

    // ---- room ----

    boolean hasSlot() {
        return to < SLOTS;
    }

    /** For a block without a free slot at the end: whether it is worth moving the entries to the front. */
    boolean isHalfFree() {
        return size() <= SLOTS / 2;
    }

    boolean hasGap() {
        return from > ROOT;
    }

    /** Moves a run to the front, so that all free slots are behind it. */
    void closeGap() {
        if (!hasGap()) {
            return;
        }
        int n = size();
        System.arraycopy(keys, from, keys, ROOT, n);
        System.arraycopy(seqs, from, seqs, ROOT, n);
        System.arraycopy(nodes, from, nodes, ROOT, n);
        Arrays.fill(nodes, Math.max(from, ROOT + n), to, null); // otherwise they would keep timers alive
        from = ROOT;
        to = ROOT + n;
    }

    // ---- the first entry ----

    /** The block must not be empty, as for all methods in this section. */
    long key() {
        return keys[from];
    }

    int seq() {
        return seqs[from];
    }

    TimerNode node() {
        return nodes[from];
    }

    void pop() {
        if (isRun) {
            nodes[from++] = null;
        } else {
            TimerNode last = nodes[--to];
            nodes[to] = null;
            if (to > ROOT) {
                sink(ROOT, keys[to], seqs[to], last);
            }
        }
        restIfEmpty();
    }

    private void restIfEmpty() {
        if (from == to) {
            from = ROOT;
            to = ROOT;
            isRun = true;
        }
    }

    /** Gives the first entry a later key and a higher number. */
    void rekey(long key, int seq) {
        becomeHeap();
        sink(ROOT, key, seq, nodes[ROOT]);
    }

    // ---- push ----

    /** Adds an entry behind all entries with the same key. There must be a free slot. True if it is the first now. */
    boolean push(long key, int seq, TimerNode node) {
        int i = to;
        if (isRun && (i - from <= NEAR || keys[i - 1 - NEAR] <= key)) {
            for (; i > from && keys[i - 1] > key; i--) {
                set(i, keys[i - 1], seqs[i - 1], nodes[i - 1]);
            }
            set(i, key, seq, node);
            to++;
            return i == from;
        }
        becomeHeap();
        return siftUp(to++, key, seq, node) == ROOT;
    }

    /** A run at the front is already a heap. */
    private void becomeHeap() {
        if (isRun) {
            closeGap();
            isRun = false;
        }
    }

    private void set(int i, long key, int seq, TimerNode node) {
        keys[i] = key;
        seqs[i] = seq;
        nodes[i] = node;
    }

    // ---- all entries ----

    /** Passes the timers of the entries that may be live. */
    void forEach(Consumer<TimerNode> look) {
        for (int i = from; i < to; i++) {
            if (nodes[i].entry == seqs[i]) {
                look.accept(nodes[i]);
            }
        }
    }

    /** Drops the entries that {@code compactor} finds stale. If it throws, the entries that it has not checked stay. */
    void sweep(Compactor compactor) {
        int kept = from;
        int i = from;
        try {
            for (; i < to; i++) {
                TimerNode t = nodes[i];
                if (!compactor.isStale(t, seqs[i])) {
                    move(i, kept++);
                }
            }
        } finally {
            for (; i < to; i++) {
                move(i, kept++);
            }
            if (kept < to) {
                Arrays.fill(nodes, kept, to, null);
                to = kept;
                restIfEmpty();
                heapify();
            }
        }
    }

    private void move(int i, int into) {
        if (into < i) {
            set(into, keys[i], seqs[i], nodes[i]);
        }
    }

    /** Takes all entries of another block. There must be room for them. */
    void takeAll(Block b) {
        closeGap();
        int n = b.size();
        System.arraycopy(b.keys, b.from, keys, to, n);
        System.arraycopy(b.seqs, b.from, seqs, to, n);
        System.arraycopy(b.nodes, b.from, nodes, to, n);
        Arrays.fill(b.nodes, b.from, b.to, null);
        isRun &= b.isRun && (to == ROOT || n == 0 || !before(keys[to], seqs[to], keys[to - 1], seqs[to - 1]));
        to += n;
        b.to = b.from;
        b.restIfEmpty();
        heapify();
    }

    private void heapify() {
        if (!isRun && size() > 1) {
            for (int s = (to - 1 >> 2) + 2; s >= ROOT; s--) {
                sink(s, keys[s], seqs[s], nodes[s]);
            }
        }
    }

    /**
     * The earliest key among the first entries that is not before {@code at}. If all of these are earlier, {@code at} if the
     * block has more entries, and NEVER if not. Called without the lock and racy, so the result is a hint.
     */
    long earliestFrom(long at) {
        long[] k = keys;
        int i = from;
        int end = to;
        int looks = Math.min(end, i + (isRun ? FIRST_OF_RUN : FIRST_LEVELS));
        long earliest = Timeline.NEVER;
        for (; i < looks; i++) {
            if (k[i] >= at && k[i] < earliest) {
                earliest = k[i];
            }
        }
        return earliest == Timeline.NEVER && looks < end ? at : earliest;
    }

    // ---- the heap ----

    static boolean before(long key, int seq, long otherKey, int otherSeq) {
        return key < otherKey || key == otherKey && seq - otherSeq < 0;
    }

    /** Puts an entry into the hole or above, and returns its slot. It must not belong below. */
    private int siftUp(int hole, long key, int seq, TimerNode node) {
        long[] k = keys;
        int[] q = seqs;
        TimerNode[] t = nodes;
        int s = hole;
        while (s > ROOT) {
            int parent = (s >> 2) + 2;
            if (!before(key, seq, k[parent], q[parent])) {
                break;
            }
            k[s] = k[parent];
            q[s] = q[parent];
            t[s] = t[parent];
            s = parent;
        }
        k[s] = key;
        q[s] = seq;
        t[s] = node;
        return s;
    }

    /** Puts an entry into the hole or below. It must not belong above. */
    private void sink(int hole, long key, int seq, TimerNode node) {
        int end = to;
        long[] k = keys;
        int[] q = seqs;
        TimerNode[] t = nodes;
        int s = hole;
        int child;
        // Slots are always positive. The test tells the compiler so, which then checks the bounds of four keys at once.
        while ((child = s - 2 << 2) < end && child > 0) {
            int min = child + 3 < end ? minOfFour(k, q, child) : minOf(k, q, child, end);
            if (before(key, seq, k[min], q[min])) {
                break;
            }
            k[s] = k[min];
            q[s] = q[min];
            t[s] = t[min];
            s = min;
        }
        k[s] = key;
        q[s] = seq;
        t[s] = node;
    }

    /** For the last siblings, of which there may be fewer than four. */
    static int minOf(long[] k, int[] q, int from, int end) {
        int min = from;
        for (int i = from + 1; i < end; i++) {
            if (before(k[i], q[i], k[min], q[min])) {
                min = i;
            }
        }
        return min;
    }

    /** A tournament on sign bits: no branch depends on the order of the keys. */
    static int minOfFour(long[] k, int[] s, int c) {
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
