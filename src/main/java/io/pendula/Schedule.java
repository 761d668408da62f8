package io.pendula;

import io.pendula.internal.util.Check;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Wall-clock times at which {@link Timers#schedule} runs a task. A lambda adapts the expressions of other libraries:
 *
 * <pre>{@code
 * CronExpression cron = CronExpression.parse("0 30 2 * * *");     // Spring's
 * Schedule schedule = after -> cron.next(after.atZone(zone)).toInstant();
 * }</pre>
 *
 * <p>The wall clock is read at least once a minute. {@code next} is called at the start, at each run, and when a reading
 * shows that the clock was set back.
 *
 * <table>
 * <caption>Effects on the runs</caption>
 * <tr><th>Event</th><th>Runs</th></tr>
 * <tr><td>The machine's clock is set forward</td><td>One run within a minute for all skipped times, then the times of the
 *     new clock.</td></tr>
 * <tr><td>The clock is set back</td><td>The times of the new clock, so the times of the last hours come again. The time of
 *     the last run does not come again if it is now at most three hours ahead.</td></tr>
 * <tr><td>The machine sleeps</td><td>One run within a minute after it wakes up, for all missed times.</td></tr>
 * <tr><td>Summer time skips the hour</td><td>With {@code daily}, {@code weekly} and {@code monthly}, the run is later by
 *     the skipped time, so 02:30 becomes 03:30. If a zone skips a whole day, the run is at the same time of the next day.
 *     If that day has a run, too, there is only one.</td></tr>
 * <tr><td>Summer time repeats the hour</td><td>With {@code daily}, {@code weekly} and {@code monthly}, one run at the first
 *     of the two times.</td></tr>
 * <tr><td>A run lasts beyond the next time</td><td>One run when it ends, for all missed times.</td></tr>
 * <tr><td>The schedule returns null</td><td>There are no more times. If a run is due, it still comes; then the timer
 *     ends.</td></tr>
 * <tr><td>The schedule throws, or returns an instant that is not after {@code after}</td><td>The {@link TimerListener} is
 *     notified, and {@code next} is called again a minute later. A run that is due comes when {@code next} works
 *     again.</td></tr>
 * </table>
 *
 * @since 0.1
 */
@FunctionalInterface
public interface Schedule {
    /**
     * Returns the first time after an instant. Called by {@link Timers#schedule}, then by threads that run the task;
     * never by two threads at the same time for one timer. It should return at once.
     *
     * @param after the current instant, or the time of the last run if that is later
     * @return an instant after {@code after}; null if there is none
     */
    @Nullable Instant next(Instant after);

    /**
     * Returns a schedule that is due each day at a given time.
     *
     * @param time the time of day
     * @param zone the time zone
     * @return the schedule
     * @throws NullPointerException if an argument is null
     */
    static Schedule daily(LocalTime time, ZoneId zone) {
        return on(date -> true, time, zone);
    }

    /**
     * Returns a schedule that is due each week on a given day.
     *
     * @param day the day of the week
     * @param time the time of day
     * @param zone the time zone
     * @return the schedule
     * @throws NullPointerException if an argument is null
     */
    static Schedule weekly(DayOfWeek day, LocalTime time, ZoneId zone) {
        Check.notNull(day, "day");
        return on(date -> date.getDayOfWeek() == day, time, zone);
    }

    /**
     * Returns a schedule that is due each month on a given day.
     *
     * @param day the day of the month, from 1 to 31; in a shorter month, its last day
     * @param time the time of day
     * @param zone the time zone
     * @return the schedule
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code day} is less than 1 or more than 31
     */
    static Schedule monthly(int day, LocalTime time, ZoneId zone) {
        Check.within(1, day, 31, "day");
        return on(date -> date.getDayOfMonth() == Math.min(day, date.lengthOfMonth()), time, zone);
    }

    /** Starts at the day before, because a skipped time of that day may have moved into this one. */
    private static Schedule on(Predicate<LocalDate> days, LocalTime time, ZoneId zone) {
        Check.notNull(time, "time");
        Check.notNull(zone, "zone");
        return after -> {
            LocalDate date = LocalDate.ofInstant(after, zone).minusDays(1);
            for (;; date = date.plusDays(1)) {
                if (days.test(date)) {
                    Instant at = ZonedDateTime.of(date, time, zone).toInstant();
                    if (at.isAfter(after)) {
                        return at;
                    }
                }
            }
        };
    }
}
