package io.pendula;

/**
 * The time source of a {@link TimerScheduler}: a monotonic count of nanoseconds from an arbitrary origin, as
 * {@link System#nanoTime()} is. Values may be negative and may wrap around; only differences mean anything.
 * (Other libraries call such a thing a <em>ticker</em>; here a {@link Ticker} is a periodic timer.)
 *
 * <p>An implementation must be safe for use by many threads, must never go backwards, must not block, and should cost
 * no more than a few tens of nanoseconds: it is read at every arming but by {@code at}, and at every tick. Workers still
 * park on real time, so a clock that runs at another speed than the system's makes timers late, never early. For tests
 * see {@link ManualClock}.
 *
 * <p>A scheduler can count 36 years of its clock, then it refuses to arm timers. A wall clock that begins in 1970 and is
 * then set leaps by more than that, so it is of no use here.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface NanoClock {
    /**
     * The present reading.
     *
     * @return nanoseconds since an arbitrary but fixed origin
     */
    long nanoTime();

    /**
     * The system's monotonic clock, {@link System#nanoTime()}.
     *
     * @return the clock that schedulers use unless told otherwise
     */
    static NanoClock system() {
        return TimerScheduler.Builder.SystemClock.INSTANCE;
    }
}
