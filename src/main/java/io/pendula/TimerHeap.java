package io.pendula;

import java.util.Arrays;

/**
 * A 4-ary min-heap of (key, node) entries, first in first out among equal keys. Single-threaded; its owner locks.
 *
 * <p>Keys lie in an array of their own beside the references: a sift then touches one cache line per level instead
 * of four timers, which at 100,000 entries is worth a factor of three and more. Nodes do not know their index:
 * writing it at every move would cost as much again, and lazy deletion needs none.
 *
 * <p>Order among equals costs one {@code int} per entry. The smallest of four children is found without a branch
 * that the processor could mispredict; sequence numbers are looked at only when two keys are really equal, and are
 * compared by difference, so they may wrap around.
 *
 * <p>Keys must be at least 0 (the sign of a difference must tell the order).
 */
class TimerHeap {
    private static final int MIN_CAPACITY = 64;
    static final int TRIM_FLOOR = 12_288;
    /** The first child of every index below this is positive or overflows to below 0, never to a wrong index. */
    private static final int MAX_CAPACITY = 1 << 29;

    private long[] keys = new long[MIN_CAPACITY];
    private TimerNode[] nodes = new TimerNode[MIN_CAPACITY];
    private int[] seqs = new int[MIN_CAPACITY];
    private int size;
    private int nextSeq;

    final int size() {
        return size;
    }

    final int capacity() {
        return keys.length;
    }

    final long topKey() {
        return size == 0 ? Timeline.NEVER : keys[0];
    }

    final TimerNode top() {
        return nodes[0];
    }

    final long key(int i) {
        return keys[i];
    }

    final TimerNode node(int i) {
        return nodes[i];
    }

    final int seq(int i) {
        return seqs[i];
    }

    /** The sequence number of the next entry that is pushed. */
    final int nextSeq() {
        return nextSeq;
    }

    /**
     * Makes room for one more entry, so that the next push cannot fail.
     *
     * @throws OutOfMemoryError with the heap unchanged
     */
    final void ensureRoom() {
        int n = keys.length;
        if (size == n) {
            if (n == MAX_CAPACITY) {
                throw new OutOfMemoryError("a timer heap cannot hold more than " + n + " entries");
            }
            resize((int) Math.min(MAX_CAPACITY, n + (long) (n >> 1)));
        }
    }

    /**
     * Gives memory back once two thirds of it are unused; keeps what it has if there is none to copy into. A small heap
     * is left alone: filling from an inbox and sweeping take turns there, and would make it grow and shrink for ever.
     */
    final void trim() {
        if (keys.length > TRIM_FLOOR && size < keys.length / 3) {
            shrinkTo(Math.max(TRIM_FLOOR, size + (size >> 1)));
        }
    }

    private void shrinkTo(int capacity) {
        try {
            resize(capacity);
        } catch (OutOfMemoryError keepTheOldArrays) {
            // Shrinking is only thrift.
            return;
        }
    }

    /** All three arrays are allocated before any is replaced, so a failure leaves the heap as it was. */
    void resize(int capacity) {
        long[] k = Arrays.copyOf(keys, capacity);
        TimerNode[] t = Arrays.copyOf(nodes, capacity);
        int[] s = Arrays.copyOf(seqs, capacity);
        keys = k;
        nodes = t;
        seqs = s;
    }

    /** Adds an entry; {@link #ensureRoom} must have been called. */
    final void push(long key, TimerNode node) {
        siftUp(size++, key, nextSeq++, node);
    }

    /** Removes the top entry. */
    final void pop() {
        int last = --size;
        long key = keys[last];
        TimerNode node = nodes[last];
        nodes[last] = null; // or it would be kept alive until overwritten
        if (last > 0) {
            siftDown(0, key, seqs[last], node);
        }
    }

    /** Gives the top entry a later key; it goes behind the entries that have that key already. */
    final void rekeyTop(long key) {
        siftDown(0, key, nextSeq++, nodes[0]);
    }

    /** Removes any entry. The last one takes its place and may have to move either way. */
    final void removeAt(int i) {
        int last = --size;
        long key = keys[last];
        int seq = seqs[last];
        TimerNode node = nodes[last];
        nodes[last] = null;
        if (i == last) {
            return;
        }
        int parent = (i - 1) >> 2;
        if (i > 0 && before(key, seq, keys[parent], seqs[parent])) {
            siftUp(i, key, seq, node);
        } else {
            siftDown(i, key, seq, node);
        }
    }

    final void clear() {
        Arrays.fill(nodes, 0, size, null);
        size = 0;
        shrinkTo(MIN_CAPACITY);
    }

    private static boolean before(long key, int seq, long otherKey, int otherSeq) {
        return key < otherKey || key == otherKey && seq - otherSeq < 0;
    }

    private void siftUp(int hole, long key, int seq, TimerNode node) {
        long[] k = keys;
        TimerNode[] t = nodes;
        int[] s = seqs;
        int i = hole;
        while (i > 0) {
            int parent = (i - 1) >> 2;
            if (!before(key, seq, k[parent], s[parent])) {
                break;
            }
            k[i] = k[parent];
            t[i] = t[parent];
            s[i] = s[parent];
            i = parent;
        }
        k[i] = key;
        t[i] = node;
        s[i] = seq;
    }

    private void siftDown(int hole, long key, int seq, TimerNode node) {
        long[] k = keys;
        TimerNode[] t = nodes;
        int[] s = seqs;
        int n = size;
        int i = hole;
        for (int c; (c = (i << 2) + 1) < n && c > 0; ) {
            int min = c + 3 < n ? minOfFour(k, s, c) : minOf(k, s, c, n);
            if (before(key, seq, k[min], s[min])) {
                break;
            }
            k[i] = k[min];
            t[i] = t[min];
            s[i] = s[min];
            i = min;
        }
        k[i] = key;
        t[i] = node;
        s[i] = seq;
    }

    /** A tournament on sign bits: no branch depends on the keys unless two of them tie. */
    private static int minOfFour(long[] k, int[] s, int c) {
        long k0 = k[c];
        long k1 = k[c + 1];
        long k2 = k[c + 2];
        long k3 = k[c + 3];
        int a = c + (int) (k1 - k0 >>> 63);
        int b = c + 2 + (int) (k3 - k2 >>> 63);
        long ka = k[a];
        long kb = k[b];
        if (k0 == k1 || k2 == k3 || ka == kb) {
            return minOf(k, s, c, c + 4);
        }
        return a + (b - a & (int) (kb - ka >> 63));
    }

    private static int minOf(long[] k, int[] s, int from, int end) {
        int min = from;
        int to = Math.min(end, from + 4);
        for (int i = from + 1; i < to; i++) {
            if (before(k[i], s[i], k[min], s[min])) {
                min = i;
            }
        }
        return min;
    }
}
