package io.pendula;

/**
 * The time source of a {@link TimerScheduler}: a monotonic count of nanoseconds from an arbitrary origin, as
 * {@link System#nanoTime()} is. Values may be negative and may wrap around; only differences are meaningful. (Other
 * libraries call a time source a <em>ticker</em>; here a {@link Ticker} is a periodic timer.)
 *
 * <p>An implementation must be safe for use by multiple threads, must never go backwards, and must not block. A reading
 * should cost at most a few tens of nanoseconds, because every tick and every arming except {@code at} reads the clock.
 * Workers park on real time, so a clock that runs faster or slower than the system's makes timers late, never early.
 * For tests see {@link ManualClock}.
 *
 * <p>A scheduler can count 36 years of its clock; after that it arms no more timers. Do not use a wall clock: if it
 * starts in 1970 and is then set to the current date, it jumps by more than 36 years.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface NanoClock {
    /**
     * Returns the current reading.
     *
     * @return nanoseconds since an arbitrary but fixed origin
     */
    long nanoTime();

    /**
     * Returns the system's monotonic clock, {@link System#nanoTime()}.
     *
     * @return the clock that schedulers use by default
     */
    static NanoClock system() {
        return TimerScheduler.Builder.SystemClock.INSTANCE;
    }
}
