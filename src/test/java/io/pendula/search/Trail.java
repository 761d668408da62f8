package io.pendula.search;

import java.util.Arrays;

/** The steps of an execution so far: what each has touched, and since when each thread is held up. */
final class Trail {
    /*
     * Twins. A thread is held up, others make steps, then it makes its own. If none of those steps touches what this one
     * touches, it could as well have been made before: that execution comes to the same state, with as many preemptions
     * or fewer, and is tried as well. So this one need not go on.
     */
    private static final int NEVER = -1;

    private int count;
    private int[] steps = new int[256];
    /** Of each step: keys of two variables, or 0. */
    private long[] first = new long[256];
    private long[] second = new long[256];
    private boolean[] writes = new boolean[256];
    /** Keys of the locks that it has released; or null. */
    private long[][] released = new long[256][];
    /** Of each thread: the first step since it was held up, or NEVER. */
    private final int[] heldUp = new int[Execution.MAX_THREADS];

    /** Of the thread that has made the last step: the first step since it was held up before that, or NEVER. */
    private int since;

    void clear() {
        count = 0;
        since = NEVER;
        Arrays.fill(heldUp, NEVER);
    }

    /** Before the next one is chosen. */
    void stepEnded(Execution e) {
        if (count > 0) {
            released[count - 1] = e.released.isEmpty() ? null : e.released.stream().mapToLong(v -> v.key).toArray();
        }
    }

    /** A step was chosen. {@code current} has made the one before. */
    void add(Execution e, int step, long enabled, ModelThread current) {
        if (count == steps.length) {
            grow();
        }
        if (current != null && step != current.slot && (enabled & 1L << current.slot) != 0 && heldUp[current.slot] < 0) {
            heldUp[current.slot] = count;
        }
        since = NEVER;
        if (step < Execution.MAX_THREADS) {
            since = heldUp[step];
            heldUp[step] = NEVER;
        }
        steps[count] = step;
        first[count] = e.firstKey(step);
        second[count] = e.secondKey(step);
        writes[count] = step >= Execution.CALL || e.firstWrites(step);
        released[count] = null;
        count++;
    }

    private void grow() {
        int length = 2 * count;
        steps = Arrays.copyOf(steps, length);
        first = Arrays.copyOf(first, length);
        second = Arrays.copyOf(second, length);
        writes = Arrays.copyOf(writes, length);
        released = Arrays.copyOf(released, length);
    }

    /** Whether the last step could as well have been made before its thread was held up. */
    boolean isTwin() {
        int last = count - 1;
        if (last < 0 || since < 0) {
            return false;
        }
        for (int i = since; i < last; i++) {
            if (steps[i] == Execution.TIME || areDependent(i, last)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Of the threads that may be chosen next, those whose step would be a twin: as isTwin, where that is known before
     * the step. It is not of a thread that has a lock or is to take one, as the step may release it.
     */
    long twins(Execution e, long enabled) {
        long twins = 0;
        for (long rest = enabled & Execution.OWN_STEPS; rest != 0; rest &= rest - 1) {
            int slot = Long.numberOfTrailingZeros(rest);
            if (heldUp[slot] >= 0 && e.releasesNothing(slot) && isUntouched(e.firstKey(slot), e.firstWrites(slot), heldUp[slot])) {
                twins |= 1L << slot;
            }
        }
        return twins;
    }

    private boolean isUntouched(long key, boolean writing, int since) {
        for (int i = since; i < count; i++) {
            if (steps[i] == Execution.TIME || touch(first[i], key) && (writes[i] || writing) || touch(second[i], key)) {
                return false;
            }
            if (released[i] != null) {
                for (long r : released[i]) {
                    if (r == key) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    private boolean areDependent(int a, int b) {
        return touch(first[a], first[b]) && (writes[a] || writes[b]) || touch(second[a], first[b])
                || touch(second[a], second[b]) || touch(first[a], second[b]) || hasReleased(a, b) || hasReleased(b, a);
    }

    private static boolean touch(long key, long other) {
        return key != 0 && key == other;
    }

    private boolean hasReleased(int a, int b) {
        long[] of = released[a];
        if (of == null) {
            return false;
        }
        for (long key : of) {
            if (key == first[b] || key == second[b]) {
                return true;
            }
            if (released[b] != null) {
                for (long other : released[b]) {
                    if (key == other) {
                        return true;
                    }
                }
            }
        }
        return false;
    }
}
