package io.pendula.internal.queue;

import java.util.function.LongSupplier;

/**
 * One scheduler's time: a count of nanoseconds, moved so that it starts at 1, never wraps and fits 60 bits.
 *
 * <p>Raw clock values may be negative and wrap around, so they can neither be compared by {@code <} nor packed beside
 * a state. Here an instant lies in [1, NEVER - 1], a deadline in [1, NEVER]; 0 stays free to mean "none". As no
 * instant ever reaches NEVER (36 years after the start), a timer with that deadline never runs and nothing needs to
 * treat it specially. At the last instant no timer is armed any more.
 */
public final class Timeline {
    /** The deadline that never comes; also what an empty heap reports. */
    public static final long NEVER = (1L << 60) - 1;
    /** A longer delay, of 18 years, means never. */
    public static final long LONGEST = NEVER >> 1;

    /** Null stands for the system clock, so that the common case is a direct intrinsic call. */
    private final LongSupplier clock;
    private final long origin;

    public Timeline(LongSupplier clock) {
        this.clock = clock;
        this.origin = (clock == null ? System.nanoTime() : clock.getAsLong()) - 1;
    }

    public boolean isSystem() {
        return clock == null;
    }

    /** The present instant. */
    public long now() {
        long t = (clock == null ? System.nanoTime() : clock.getAsLong()) - origin;
        // A clock that steps back below its first reading must not produce an instant that means "none".
        return Math.max(1, Math.min(t, NEVER - 1));
    }

    /** The deadline that lies {@code delay} nanoseconds ahead; negative delays are due now, overlong ones never. */
    public long deadlineIn(long delay) {
        long now = now();
        if (now == NEVER - 1) {
            throw new IllegalStateException("a scheduler can count 36 years of its clock, and these are over");
        }
        return plus(now, Math.max(0, delay));
    }

    /** How many nanoseconds its clock may still be moved. */
    public long left() {
        return NEVER - 1 - now();
    }

    /** The nanoseconds from an instant to a deadline: 0 if that has passed, Long.MAX_VALUE if it never comes. */
    public static long between(long now, long deadline) {
        return deadline == NEVER ? Long.MAX_VALUE : Math.max(0, deadline - now);
    }

    /**
     * The deadline that a caller has computed from an instant of this timeline. One of at least {@code Long.MIN_VALUE / 2}
     * and at most 0 has passed. A smaller one is a sum that has overflowed, so it lies far ahead: no instant that has
     * passed is so small.
     */
    public static long deadlineAt(long instant) {
        return instant < Long.MIN_VALUE / 2 ? NEVER : Math.max(1, Math.min(instant, NEVER));
    }

    /** {@code instant + nanos}, saturating at NEVER, and never if {@code nanos} are too many, which are at least 0. */
    public static long plus(long instant, long nanos) {
        return nanos > LONGEST ? NEVER : Math.min(instant + nanos, NEVER);
    }
}
