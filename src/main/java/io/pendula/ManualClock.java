package io.pendula;

import io.pendula.internal.engine.Stepper;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.Texts;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A clock for deterministic tests that moves only when {@link #advance} is called. A scheduler built with this clock
 * has no threads: {@code advance} runs the timers that become due, on the calling thread. They run in the order of
 * their deadlines and, for equal deadlines, in the order of arming. During a callback the clock shows the callback's
 * deadline, or a later instant if the timer was armed for an instant in the past. The same calls from one thread always
 * give the same result, except for {@code everyAtRandomPhase}. If the scheduler was built with an executor,
 * {@code advance} hands callbacks to it, and does not wait for them.
 *
 * <pre>{@code
 * ManualClock clock = new ManualClock();
 * TimerScheduler timers = TimerScheduler.builder().clock(clock).build();
 * timers.after(Duration.ofSeconds(5), this::expire);
 * clock.advance(Duration.ofSeconds(5));   // expire() has been called
 * }</pre>
 *
 * <p>Reading the clock, arming, stopping and resetting are safe for all threads; {@code advance} may be called by one thread
 * at a time. Several schedulers may share a clock; for equal deadlines, the timers of the scheduler that was built first run
 * first. Timers of a {@link TimerLoop} are run by that loop's {@code runDue}.
 *
 * @since 0.1
 */
public final class ManualClock implements NanoClock {
    /** The number of callbacks that may run at one instant, in addition to those that were pending by then. */
    static final int RUNS_AT_AN_INSTANT = 1_000_000;

    /** {@link #RUNS_AT_AN_INSTANT}; a test may set a smaller number. */
    int runsAtAnInstant = RUNS_AT_AN_INSTANT;
    /** In the order in which they were built. Copied at each change, because a callback may build or close one. */
    private final List<Stepper> schedulers = new CopyOnWriteArrayList<>();
    private volatile long nanos;
    /** Null while no thread advances the clock. */
    private final AtomicReference<Thread> advancing = new AtomicReference<>();
    /** Whether a callback has left the interrupt flag of the advancing thread set. */
    private boolean interrupted;

    /** A clock that starts at 0. */
    public ManualClock() {
        this(0);
    }

    /** For tests of clocks that wrap around. */
    ManualClock(long startNanos) {
        this.nanos = startNanos;
    }

    @Override
    public long nanoTime() {
        return nanos;
    }

    /**
     * Returns a wall clock that moves with this one, for code under test that reads the time of day. Each call returns
     * a new clock. To set the wall clock in a test, pass your own {@link InstantSource} to {@link Timers#schedule}
     * instead.
     *
     * @param start the instant that it shows now
     * @param zone its time zone
     * @return a clock, safe for use by multiple threads
     * @throws NullPointerException if an argument is null
     */
    public Clock asClock(Instant start, ZoneId zone) {
        Check.notNull(start, "start");
        long from = nanos;
        InstantSource source = () -> start.plusNanos(nanos - from);
        return source.withZone(Check.notNull(zone, "zone"));
    }

    /**
     * Moves the clock forward and runs the timers that become due on the way, including those armed by callbacks. If a
     * callback throws, the exception goes to the scheduler's {@link TimerListener}. If a callback leaves the interrupt flag
     * set, the next one does not see it, but the flag is set when this method returns.
     *
     * <p>Callbacks that arm timers for the instant at which they run could keep the clock there forever. So after a
     * million callbacks at one instant, the clock runs at most as many more as timers are pending then, and throws
     * {@code IllegalStateException} if that is not enough. The clock stays at that instant, and all timers that have
     * not run are still armed.
     *
     * @param duration how far to move the clock; zero runs the timers that are due already
     * @return the number of firings: callbacks that were run or handed to an executor, and alarms that rang
     * @throws NullPointerException if {@code duration} is null
     * @throws IllegalArgumentException if {@code duration} is negative
     * @throws IllegalStateException if called by a callback that this clock runs, or while another thread advances it. Also
     *     if callbacks endlessly arm timers for the instant at which they run, or if a scheduler would have to count more
     *     than 36 years of this clock
     */
    public long advance(Duration duration) {
        long distance = Check.notNegative(duration, "duration");
        Thread other = advancing.compareAndExchange(null, Thread.currentThread());
        if (other != null) {
            throw new IllegalStateException("the clock is being advanced already"
                    + (other == Thread.currentThread() ? " by this thread, which runs one of its callbacks"
                    : " by " + other.getName()));
        }
        try { // if anything below throws, even an Error for lack of stack or memory, the clock can be advanced again
            schedulers.removeIf(s -> s.engine.isClosed());
            schedulers.forEach(s -> s.refuseBeyond(distance));
            return advance(distance);
        } finally {
            boolean wasInterrupted = interrupted;
            interrupted = false;
            advancing.set(null); // before the flag is restored: a subclass of Thread may throw there
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Moves the clock to the next deadline and runs the timers that are due there, as {@link #advance} does. If no timer
     * will ever be due, the clock does not move.
     *
     * @return the number of firings, as {@link #advance} counts them; 0 if another thread has stopped the timer meanwhile
     * @throws IllegalStateException as {@link #advance} does
     */
    public long advanceToNext() {
        return nextIn().map(this::advance).orElse(0L);
    }

    /**
     * Returns the time until the next deadline of a timer that {@link #advance} would run.
     *
     * @return the time; zero if a timer is due; empty if no timer will ever be due
     */
    public Optional<Duration> nextIn() {
        return schedulers.stream().map(Stepper::nanosUntilNext).filter(nanos -> nanos != Long.MAX_VALUE)
                .min(Long::compare).map(Duration::ofNanos);
    }

    /**
     * Returns the number of armed timers and tickers of all schedulers with this clock, including those of loops.
     * {@link TimerScheduler#pendingTimers} lists them.
     *
     * @return the number of firings still to come
     */
    public long pending() {
        return schedulers.stream().mapToLong(s -> s.engine.pending()).sum();
    }

    private long advance(long distance) {
        long left = distance;
        long ran = 0;
        long atInstant = 0; // callbacks that ran since the clock was last moved
        long most = 0;
        for (;;) {
            Stepper first = null;
            long nearest = Long.MAX_VALUE;
            for (Stepper s : schedulers) { // including those that a callback has built meanwhile
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
            if (nearest > 0) {
                nanos += nearest;
                left -= nearest;
                atInstant = 0;
            }
            if (atInstant == runsAtAnInstant) {
                most = atInstant + pending();
            }
            if (atInstant >= runsAtAnInstant && atInstant == most) {
                throw new IllegalStateException("the clock cannot be moved beyond " + Texts.duration(nanos) + ": " + atInstant
                        + " callbacks have run at that instant, and they arm timers for it without end; "
                        + first.describeNext());
            }
            boolean runs = first.runOneDue();
            interrupted |= Thread.interrupted(); // a flag left by a callback is for the caller, not for the next callback
            if (runs) {
                ran++;
                atInstant++;
            }
        }
    }

    void attach(Stepper scheduler) {
        schedulers.removeIf(s -> s.engine.isClosed()); // a test may build many on one clock without calling the clock
        schedulers.add(scheduler);
    }

    /**
     * The current reading, for humans.
     *
     * @return a text without a fixed form
     */
    @Override
    public String toString() {
        return "ManualClock[at " + Texts.duration(nanos) + "]";
    }
}
