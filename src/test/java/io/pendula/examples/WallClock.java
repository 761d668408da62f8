package io.pendula.examples;

import io.pendula.Timer;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * Runs a task at times of the day's clock, which may be set, and goes on while the machine is suspended. Timers measure
 * elapsed time; so this looks at the clock again each minute, and trusts no longer delay.
 */
// tag::recipe[]
final class WallClock implements AutoCloseable {
    private static final Duration LOOK = Duration.ofMinutes(1);
    /** If the clock is set back to longer than this before a run, it was wrong, and the time of that run comes again. */
    private static final Duration WRONG = Duration.ofHours(3);

    private final InstantSource clock;
    private final UnaryOperator<Instant> next;
    private final Runnable task;
    private final Timer timer;
    private Instant due;
    private Instant ran = Instant.MIN;
    private boolean closed;

    /** {@code next} returns the first time after an instant. */
    WallClock(TimerScheduler timers, InstantSource clock, UnaryOperator<Instant> next, Runnable task) {
        this.clock = clock;
        this.next = next;
        this.task = task;
        this.due = nextAfter(clock.instant());
        this.timer = timers.timer(this::look);
        lookAgain(due);
    }

    /** Runs once at a time, since a timer never overlaps itself. */
    private void look() {
        Instant now = clock.instant();
        Instant again = now.plus(LOOK); // if the schedule fails, it is asked again then
        try {
            Instant time = due;
            due = dueAfter(now); // anew, as the clock may have been set; times that were missed are left out
            again = due;
            if (!now.isBefore(time)) {
                ran = time;
                task.run();
            }
        } finally {
            lookAgain(again);
        }
    }

    /** Not the time of the last run, if the clock was set back to a little before it. */
    private Instant dueAfter(Instant now) {
        if (ran.isAfter(now.plus(WRONG))) {
            ran = Instant.MIN;
        }
        Instant time = nextAfter(now);
        return time.equals(ran) ? nextAfter(ran) : time;
    }

    private Instant nextAfter(Instant now) {
        return Objects.requireNonNull(next.apply(now), "the schedule's next time");
    }

    private synchronized void lookAgain(Instant at) {
        if (!closed) { // a timer that was cancelled cannot be reset
            Duration left = Duration.between(clock.instant(), at);
            timer.reset(left.compareTo(LOOK) < 0 ? left : LOOK);
        }
    }

    /** Each day at {@code time}: if it comes twice, at the first; if the clocks skip it, as much later as they skip. */
    static UnaryOperator<Instant> dailyAt(LocalTime time, ZoneId zone) {
        return after -> {
            LocalDate today = LocalDate.ofInstant(after, zone);
            Instant at = ZonedDateTime.of(today, time, zone).toInstant();
            return at.isAfter(after) ? at : ZonedDateTime.of(today.plusDays(1), time, zone).toInstant();
        };
    }

    @Override
    public synchronized void close() {
        closed = true;
        timer.cancel();
    }
}
// end::recipe[]
