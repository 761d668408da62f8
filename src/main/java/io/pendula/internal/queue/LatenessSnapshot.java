package io.pendula.internal.queue;

import java.util.Arrays;

/**
 * What a {@link LatenessHistogram} has counted.
 *
 * @param counts by bucket; those behind the last that is not empty are left out. Never changed
 */
public record LatenessSnapshot(long[] counts, long sum, long max) {
    public static final LatenessSnapshot NONE = new LatenessSnapshot(new long[0], 0, 0);

    public long count() {
        long n = 0;
        for (long c : counts) {
            n += c;
        }
        return n;
    }

    LatenessSnapshot plus(LatenessSnapshot b) {
        if (b.counts.length == 0) {
            return this;
        }
        long[] both = Arrays.copyOf(counts, Math.max(counts.length, b.counts.length));
        for (int i = 0; i < b.counts.length; i++) {
            both[i] += b.counts[i];
        }
        return new LatenessSnapshot(both, sum + b.sum, Math.max(max, b.max));
    }
}
