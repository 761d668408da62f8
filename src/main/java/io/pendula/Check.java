package io.pendula;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Argument checks whose messages name the argument and the offending value. */
final class Check {
    private Check() {}

    static <T> T notNull(T value, String name) {
        if (value == null) {
            throw new NullPointerException(name + " must not be null");
        }
        return value;
    }

    static int atLeast(int value, int min, String name) {
        if (value < min) {
            throw new IllegalArgumentException(name + " must be at least " + min + ", but is " + value);
        }
        return value;
    }

    /** The nanoseconds of a period, saturating; a period must be positive. */
    static long period(Duration period) {
        long nanos = nanos(period, "period");
        if (nanos <= 0) {
            throw new IllegalArgumentException("period must be positive, but is " + period);
        }
        return nanos;
    }

    /** Nanoseconds of a duration, saturating at both ends of the long range. */
    static long nanos(Duration duration, String name) {
        return TimeUnit.NANOSECONDS.convert(notNull(duration, name));
    }

    static long delay(long delay, TimeUnit unit) {
        return notNull(unit, "unit").toNanos(delay);
    }

    /** Saturates, as the nanoseconds of the delay do. */
    static Duration duration(long delay, TimeUnit unit) {
        return Duration.ofNanos(delay(delay, unit));
    }

    /** The nanoseconds of a threshold or timeout that must not be negative. */
    static long notNegative(Duration duration, String name) {
        long nanos = nanos(duration, name);
        if (nanos < 0) {
            throw new IllegalArgumentException(name + " must not be negative, but is " + duration);
        }
        return nanos;
    }
}
