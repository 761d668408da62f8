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

    private final InstantSource clock;
    private final UnaryOperator<Instant> next;
    private final Runnable task;
    private final Timer timer;
    private Instant due;
    private boolean closed;

    /** {@code next} returns the first time after an instant. */
    WallClock(TimerScheduler timers, InstantSource clock, UnaryOperator<Instant> next, Runnable task) {
        this.clock = clock;
        this.next = next;
        this.task = task;
        Instant now = clock.instant();
        this.due = nextAfter(now);
        this.timer = timers.at(Long.MAX_VALUE, this::look);
        timer.reset(until(now));
    }

    /** Runs once at a time, since a timer never overlaps itself. */
    private void look() {
        Instant now = clock.instant();
        try {
            if (!now.isBefore(due)) {
                due = now.plus(LOOK); // if the schedule fails, it is asked again then
                due = nextAfter(now); // times that were missed are left out
                task.run();
            }
        } finally {
            lookAgain();
        }
    }

    private Instant nextAfter(Instant now) {
        return Objects.requireNonNull(next.apply(now), "the schedule's next time");
    }

    private synchronized void lookAgain() {
        if (!closed) { // a timer that was cancelled cannot be reset
            timer.reset(until(clock.instant()));
        }
    }

    private Duration until(Instant now) {
        Duration left = Duration.between(now, due);
        return left.compareTo(LOOK) < 0 ? left : LOOK;
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
