package io.pendula.internal.queue;

/**
 * Counts firings by how late they were. The lock of its queue guards it, so there is one writer at a time.
 *
 * <p>The buckets are log-linear. From a microsecond on, each power of two has eight buckets, so the width of a bucket is at
 * most an eighth of its values. Below a microsecond, buckets are {@link #UNIT} nanoseconds wide. The last bucket has all
 * values from about 18 minutes on.
 */
public final class LatenessHistogram {
    private static final int UNIT_BITS = 7;
    /** Width of the narrowest bucket, in nanoseconds. */
    public static final int UNIT = 1 << UNIT_BITS;
    private static final int SUB_BITS = 3;
    private static final int SUB = 1 << SUB_BITS;
    /** From this power of two on, in units, all values share one bucket. */
    private static final int TOP_BITS = 33;
    public static final int BUCKETS = (TOP_BITS - SUB_BITS + 1) * SUB + 1;

    private final long[] counts = new long[BUCKETS];
    private long sum;
    private long max;

    public void record(long nanos) {
        counts[bucket(nanos)]++;
        sum += nanos;
        if (nanos > max) {
            max = nanos;
        }
    }

    /** An unchanging copy. */
    public LatenessHistogram snapshot() {
        return new LatenessHistogram().plus(this);
    }

    /** The sum of both, in a new histogram. */
    LatenessHistogram plus(LatenessHistogram b) {
        LatenessHistogram both = new LatenessHistogram();
        for (int i = 0; i < BUCKETS; i++) {
            both.counts[i] = counts[i] + b.counts[i];
        }
        both.sum = sum + b.sum;
        both.max = Math.max(max, b.max);
        return both;
    }

    public long[] counts() {
        return counts.clone();
    }

    public long sum() {
        return sum;
    }

    public long max() {
        return max;
    }

    /** The bucket of a lateness of at least 0. */
    public static int bucket(long nanos) {
        long units = nanos >>> UNIT_BITS;
        if (units < SUB) {
            return (int) units;
        }
        int power = 63 - Long.numberOfLeadingZeros(units);
        return power >= TOP_BITS ? BUCKETS - 1
                : (power - SUB_BITS) * SUB + (int) (units >>> power - SUB_BITS);
    }

    /** The smallest lateness in a bucket; Long.MAX_VALUE for the index after the last bucket. */
    public static long lowest(int bucket) {
        if (bucket >= BUCKETS) {
            return Long.MAX_VALUE;
        }
        int power = Math.max(0, bucket / SUB - 1);
        return (long) (bucket - power * SUB) << power + UNIT_BITS;
    }
}
