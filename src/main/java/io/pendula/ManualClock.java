package io.pendula;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A clock that stands still until it is told to advance, for deterministic tests. A scheduler built with one has no
 * thread at all: {@link #advance} runs what falls due, on the calling thread, in the order of the deadlines and,
 * among equal ones, of arming. During a callback the clock shows the callback's deadline. The same calls give the
 * same result at every run.
 *
 * <pre>{@code
 * ManualClock clock = new ManualClock();
 * TimerScheduler timers = TimerScheduler.builder().clock(clock).build();
 * timers.after(Duration.ofSeconds(5), this::expire);
 * clock.advance(Duration.ofSeconds(5));   // expire() has been called
 * }</pre>
 *
 * <p>Reading the clock, arming, stopping and resetting are safe for all threads; {@code advance} may be called by one
 * thread at a time. Several schedulers may share a clock; of equal deadlines those of the scheduler that was built
 * first run first. Timers of a {@link TimerLoop} are left to that loop's {@code runDue}.
 */
public final class ManualClock implements NanoClock {
    private final List<TimerScheduler> schedulers = new ArrayList<>();
    private volatile long nanos;
    private Thread advancing;

    /** A clock that starts at 0. */
    public ManualClock() {
        this(0);
    }

    /**
     * A clock that starts at a given reading; one close to {@code Long.MAX_VALUE} shows what a wrap-around does.
     *
     * @param startNanos the first reading, any value
     */
    public ManualClock(long startNanos) {
        this.nanos = startNanos;
    }

    @Override
    public long nanoTime() {
        return nanos;
    }

    /**
     * Moves the clock on and runs what falls due on the way, timers armed by callbacks included. What a callback
     * throws goes to the scheduler's {@link TimerListener}.
     *
     * @param duration how far; zero runs what is due already
     * @return how many callbacks were run
     * @throws NullPointerException if {@code duration} is null
     * @throws IllegalArgumentException if {@code duration} is negative
     * @throws IllegalStateException if called by a callback, or while another thread advances the clock
     */
    public long advance(Duration duration) {
        long distance = Check.notNegative(duration, "duration");
        List<TimerScheduler> driven;
        synchronized (schedulers) {
            if (advancing != null) {
                throw new IllegalStateException("the clock is being advanced already"
                        + (advancing == Thread.currentThread() ? " by this thread, which runs one of its callbacks"
                        : " by " + advancing.getName()));
            }
            advancing = Thread.currentThread();
            schedulers.removeIf(TimerScheduler::isClosed);
            driven = List.copyOf(schedulers);
        }
        try {
            return advance(driven, distance);
        } finally {
            synchronized (schedulers) {
                advancing = null;
            }
        }
    }

    private long advance(List<TimerScheduler> driven, long distance) {
        long left = distance;
        long ran = 0;
        for (;;) {
            TimerScheduler first = null;
            long nearest = Long.MAX_VALUE;
            for (TimerScheduler s : driven) {
                long ahead = s.nanosUntilNext();
                if (ahead < nearest) {
                    nearest = ahead;
                    first = s;
                }
            }
            if (first == null || nearest > left) {
                nanos += left;
                return ran;
            }
            nanos += nearest;
            left -= nearest;
            if (first.runOneDue()) {
                ran++;
            }
        }
    }

    void attach(TimerScheduler scheduler) {
        synchronized (schedulers) {
            schedulers.add(scheduler);
        }
    }
}
