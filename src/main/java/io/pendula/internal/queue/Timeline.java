package io.pendula.internal.queue;

import java.util.function.LongSupplier;

/**
 * One scheduler's time: a count of nanoseconds that starts at 1, never wraps and fits into 60 bits.
 *
 * <p>Raw clock values may be negative and wrap around. So they can neither be compared by {@code <} nor share a word with a
 * state. Here an instant is in [1, NEVER - 1] and a deadline in [1, NEVER]; 0 means "none". No instant ever reaches NEVER
 * (36 years after the start), so a timer with that deadline never runs, and no code treats it specially. At the last
 * instant, arming is refused.
 */
public final class Timeline {
    /** The deadline that never comes; also the top key of an empty heap. */
    public static final long NEVER = (1L << 60) - 1;
    /** 18 years. A longer delay means never. */
    public static final long LONGEST = NEVER >> 1;

    /** Null for the system clock, so that the common case is a direct intrinsic call. */
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

    /** The deadline {@code delay} nanoseconds from now. If the delay is negative, now; if it is over LONGEST, NEVER. */
    public long deadlineIn(long delay) {
        long now = now();
        if (now == NEVER - 1) {
            throw new IllegalStateException("a scheduler can count 36 years of its clock, and these are over");
        }
        return plus(now, Math.max(0, delay));
    }

    /** The nanoseconds that its clock may still advance. */
    public long left() {
        return NEVER - 1 - now();
    }

    /** The nanoseconds from an instant to a deadline: 0 if that has passed, Long.MAX_VALUE if it never comes. */
    public static long between(long now, long deadline) {
        return deadline == NEVER ? Long.MAX_VALUE : Math.max(0, deadline - now);
    }

    /**
     * The deadline for a value that a caller has computed from an instant of this timeline. A value from
     * {@code Long.MIN_VALUE / 2} to 0 has passed. A smaller value is a sum that has overflowed, so it is far in the future.
     */
    public static long deadlineAt(long instant) {
        return instant < Long.MIN_VALUE / 2 ? NEVER : Math.max(1, Math.min(instant, NEVER));
    }

    /** {@code instant + nanos}, at most NEVER; NEVER if {@code nanos}, at least 0, is over LONGEST. */
    public static long plus(long instant, long nanos) {
        return nanos > LONGEST ? NEVER : Math.min(instant + nanos, NEVER);
    }
}
