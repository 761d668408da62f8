package io.pendula.benchmarks.designs;

/** Time in nanoseconds since the program began: never negative, so that deadlines can be compared with {@code <}. */
final class Clock {
    /** Later than every deadline that can be reached. */
    static final long NEVER = Long.MAX_VALUE;

    private static final long ORIGIN = System.nanoTime();

    static long now() {
        return System.nanoTime() - ORIGIN;
    }

    /** The deadline of a timer that is armed now. */
    static long after(long delayNanos) {
        long when = now() + Math.max(0, delayNanos);
        return when < 0 ? NEVER : when;
    }

    private Clock() {}
}
