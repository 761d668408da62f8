package io.pendula;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * One scheduler's time: a {@link NanoClock} moved so that it starts at 1, never wraps and fits 59 bits.
 *
 * <p>Raw clock values may be negative and wrap around, so they can neither be compared by {@code <} nor packed beside
 * a state. Here an instant lies in [1, NEVER - 1], a deadline in [1, NEVER]; 0 stays free to mean "none". As no
 * instant ever reaches NEVER (18 years after the start), a timer with that deadline never runs and nothing needs to
 * treat it specially.
 */
final class Timeline {
    /** The deadline that never comes; also what an empty heap reports. */
    static final long NEVER = (1L << 59) - 1;

    /** Loaded only for a program that asks for it: each class that the first firing needs delays it. */
    static final class SystemClock implements NanoClock {
        static final NanoClock INSTANCE = new SystemClock();

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }
    }

    /** Null stands for the system clock, so that the common case is a direct intrinsic call. */
    private final NanoClock clock;
    private final long origin;

    Timeline(NanoClock clock) {
        this.clock = clock instanceof SystemClock ? null : clock;
        this.origin = reading() - 1;
    }

    private long reading() {
        return clock == null ? System.nanoTime() : clock.nanoTime();
    }

    boolean isSystem() {
        return clock == null;
    }

    /** The present instant. */
    long now() {
        long t = reading() - origin;
        // A clock that steps back below its first reading must not produce an instant that means "none".
        return Math.max(1, Math.min(t, NEVER - 1));
    }

    /** The deadline that lies {@code delay} nanoseconds ahead; negative delays are due now, overlong ones never. */
    long deadlineIn(long delay) {
        return plus(now(), Math.max(0, delay));
    }

    /** {@code instant + nanos}, saturating at NEVER; both at least 0. */
    static long plus(long instant, long nanos) {
        return nanos >= NEVER - instant ? NEVER : instant + nanos;
    }

    /** Nanoseconds of a duration, saturating at both ends of the long range. */
    static long nanos(Duration duration, String name) {
        return TimeUnit.NANOSECONDS.convert(Check.notNull(duration, name));
    }
}
