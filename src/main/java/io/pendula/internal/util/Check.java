package io.pendula.internal.util;

import io.pendula.internal.queue.Timeline;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Argument checks whose messages name the argument and the offending value. */
public final class Check {
    private static final long MONTH = TimeUnit.DAYS.toNanos(30);

    private Check() {}

    public static <T> T notNull(T value, String name) {
        if (value == null) {
            throw new NullPointerException(name + " must not be null");
        }
        return value;
    }

    public static int atLeast(int value, int min, String name) {
        if (value < min) {
            throw new IllegalArgumentException(name + " must be at least " + min + ", but is " + value);
        }
        return value;
    }

    public static int within(int min, int value, int max, String name) {
        if (atLeast(value, min, name) > max) {
            throw new IllegalArgumentException(name + " must be at most " + max + ", but is " + value);
        }
        return value;
    }

    /**
     * An instant of a scheduler, or one that means never. Nanoseconds since 1970 would also mean never, so they are
     * rejected. Milliseconds since 1970 look like an instant half an hour after the scheduler's start, so they are not
     * detected.
     */
    public static long instant(long instant) {
        if (instant > Timeline.NEVER
                && Math.abs(instant - TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis())) < MONTH) {
            throw new IllegalArgumentException("deadlineNanos must be an instant of now(), but " + instant
                    + " is one of the wall clock");
        }
        return instant;
    }

    /** The nanoseconds of a period, saturating; a period must be positive. */
    public static long period(Duration period) {
        return positive(period, "period");
    }

    public static long positive(Duration duration, String name) {
        long nanos = nanos(duration, name);
        if (nanos <= 0) {
            throw new IllegalArgumentException(name + " must be positive, but is " + duration);
        }
        return nanos;
    }

    /** Nanoseconds of a duration, saturating at both ends of the long range. */
    public static long nanos(Duration duration, String name) {
        return TimeUnit.NANOSECONDS.convert(notNull(duration, name));
    }

    public static long delay(long delay, TimeUnit unit) {
        return notNull(unit, "unit").toNanos(delay);
    }

    /** Saturates like the nanoseconds of the delay. */
    public static Duration duration(long delay, TimeUnit unit) {
        return Duration.ofNanos(delay(delay, unit));
    }

    /** The nanoseconds of a duration that must be neither negative nor longer than {@code max}. */
    public static long within(Duration duration, Duration max, String name) {
        if (notNegative(duration, name) > max.toNanos()) {
            throw new IllegalArgumentException(name + " must be at most " + max + ", but is " + duration);
        }
        return duration.toNanos();
    }

    /** The nanoseconds of a threshold or timeout that must not be negative. */
    public static long notNegative(Duration duration, String name) {
        long nanos = nanos(duration, name);
        if (nanos < 0) {
            throw new IllegalArgumentException(name + " must not be negative, but is " + duration);
        }
        return nanos;
    }
}
