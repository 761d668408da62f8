package io.pendula;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Clock;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tasks at times by the wall clock: each row of the table in {@link Schedule}, and the ends of such a timer. */
@Timeout(120)
class ScheduleTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final Schedule EACH_MINUTE = after -> after.truncatedTo(ChronoUnit.MINUTES).plusSeconds(60);

    private final ManualClock clock = new ManualClock();
    private final List<Throwable> thrown = new ArrayList<>();
    private final List<Object> failed = new ArrayList<>();
    private final TimerScheduler timers = scheduler().build();
    /** By how much the wall clock was set, or the manual clock stood still in a sleep of the machine. */
    private Duration step = Duration.ZERO;
    private Clock even = clock.asClock(Instant.parse("2026-03-27T12:00:00Z"), ZoneOffset.UTC);
    private final InstantSource wall = () -> even.instant().plus(step);
    private final List<Instant> runs = new ArrayList<>();

    @AfterEach
    void close() {
        timers.close();
        assertEquals(List.of(), thrown);
    }

    private TimerScheduler.Builder scheduler() {
        return TimerScheduler.builder().clock(clock).listener(new TimerListener() {
            @Override
            public void threw(TimerHandle timer, long latenessNanos, Throwable t) {
                thrown.add(t);
                failed.add(timer.task());
            }
        });
    }

    private void note() {
        runs.add(wall.instant());
    }

    private TimerHandle run(Schedule schedule) {
        return timers.schedule(schedule, wall, this::note);
    }

    private static Schedule daily(String time, String zone) {
        return Schedule.daily(LocalTime.parse(time), ZoneId.of(zone));
    }

    private TimerHandle daily(String time) {
        return run(Schedule.daily(LocalTime.parse(time), BERLIN));
    }

    private void start(String instant) {
        even = clock.asClock(Instant.parse(instant), ZoneOffset.UTC);
        step = Duration.ZERO;
        runs.clear();
    }

    private void set(Duration step) {
        this.step = this.step.plus(step);
    }

    private static List<Instant> instants(String... texts) {
        return Stream.of(texts).map(Instant::parse).toList();
    }

    private static List<Instant> first(int count, Schedule schedule, String after) {
        return Stream.iterate(schedule.next(Instant.parse(after)), schedule::next).limit(count).toList();
    }

    private void assertThrown(int count, String message) {
        assertEquals(count, thrown.size(), thrown::toString);
        assertTrue(thrown.stream().allMatch(t -> message.equals(t.getMessage())), thrown::toString);
        thrown.clear();
    }

    // ---- the clock is set, or the machine sleeps ----

    @Test
    void set_forward_runsOnceWithinAMinuteForAllTimesThatWerePassedOver() {
        run(EACH_MINUTE);
        clock.advance(ofSeconds(90));
        set(ofHours(2));
        clock.advance(ofMinutes(2));
        assertEquals(instants("2026-03-27T12:01:00Z", "2026-03-27T14:02:00Z", "2026-03-27T14:03:00Z"), runs);
    }

    @Test
    void set_forward_isNoticedWithinAMinute() {
        daily("15:00");
        set(ofHours(1).plusSeconds(59 * 60 + 30)); // 13:59:30 UTC
        clock.advance(ofMinutes(1));
        assertEquals(instants("2026-03-27T14:00:30Z"), runs);
    }

    @Test
    void machineSleeps_runsWithinAMinuteOfWakingUp() {
        daily("15:00"); // 14:00 UTC
        clock.advance(ofMinutes(30));
        set(ofHours(6)); // while the monotonic clock stands still
        clock.advance(ofMinutes(1));
        assertEquals(instants("2026-03-27T18:31:00Z"), runs);
        clock.advance(ofDays(1));
        assertEquals(instants("2026-03-27T18:31:00Z", "2026-03-28T14:00:00Z"), runs);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT-1S", "PT-1H", "PT-2H-59M"})
    void set_backAfterARun_doesNotRunTwice(Duration back) {
        daily("15:00");
        clock.advance(ofHours(2));
        assertEquals(1, runs.size());
        set(back);
        clock.advance(ofHours(4));
        assertEquals(1, runs.size());
        clock.advance(ofDays(1));
        assertEquals(2, runs.size());
    }

    /** Also if the clock is wrong at the start, and set later. */
    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT-6H", "P1D", "P-1D", "P-3D", "P-730D", "P7305D"})
    void set_runsOnEachDayOfTheNewClock(Duration step) {
        start("2026-06-10T12:30:00Z");
        daily("15:00"); // 13:00 UTC
        clock.advance(ofMinutes(20));
        set(step);
        clock.advance(ofMinutes(2));
        runs.clear(); // after a step ahead there is one, of the times that were missed
        for (int day = 1; day <= 5; day++) {
            clock.advance(ofDays(1));
            assertEquals(day, runs.size(), runs::toString);
            assertEquals(LocalTime.of(15, 0), runs.get(day - 1).atZone(BERLIN).toLocalTime());
        }
    }

    @Test
    void ranByAWrongClock_runsAgainAtTheSameTimeByTheNewClock() {
        daily("15:00");
        clock.advance(ofHours(3));
        set(ofDays(-1));
        clock.advance(ofDays(1));
        assertEquals(instants("2026-03-27T14:00:00Z", "2026-03-27T14:00:00Z"), runs);
    }

    @ParameterizedTest
    @CsvSource({"PT-1S, PT250S", "PT-90S, PT330S"})
    void set_backToBeforeTheLastRun_doesNotRunTwiceAtItsTime(Duration step, Duration then) {
        run(EACH_MINUTE);
        clock.advance(ofSeconds(130));
        set(step);
        clock.advance(then); // until 12:06:19 or 12:06:10
        assertEquals(instants("2026-03-27T12:01:00Z", "2026-03-27T12:02:00Z", "2026-03-27T12:03:00Z",
                "2026-03-27T12:04:00Z", "2026-03-27T12:05:00Z", "2026-03-27T12:06:00Z"), runs);
    }

    @Test
    void set_backByManyPeriods_doesNotStandStill() {
        run(EACH_MINUTE);
        clock.advance(ofSeconds(130));
        set(ofHours(-1));
        clock.advance(ofMinutes(6));
        assertTrue(runs.size() >= 2 + 5, runs::toString);
    }

    /** A schedule may be dear, and a look is cheap. */
    @Test
    void schedule_isAskedAtEachRunAndWhenTheClockWasSetBack() {
        int[] asked = {0};
        run(after -> {
            asked[0]++;
            return after.truncatedTo(ChronoUnit.HOURS).plusSeconds(3600);
        });
        clock.advance(ofMinutes(61));
        assertEquals(1, runs.size());
        assertEquals(2, asked[0]);
        clock.advance(ofMinutes(10));
        assertEquals(2, asked[0]);
        set(ofMinutes(-30)); // to before the run
        clock.advance(ofMinutes(10));
        assertEquals(4, asked[0]); // its time, which is left out, and the next
    }

    @Test
    void schedule_countsFromTheInstantThatItIsGiven_comes() {
        run(after -> after.plus(ofHours(1)));
        clock.advance(ofHours(3));
        assertEquals(instants("2026-03-27T13:00:00Z", "2026-03-27T14:00:00Z", "2026-03-27T15:00:00Z"), runs);
        set(ofDays(-1));
        clock.advance(ofMinutes(61));
        assertEquals(Instant.parse("2026-03-26T16:01:00Z"), runs.get(3)); // an hour after that was noticed
    }

    /** As a clock of whole seconds, whose next second is nanoseconds away for most of that second. */
    @Test
    void clockStandsStill_isReadAtMostOnceInAMillisecond() {
        Instant now = Instant.parse("2026-03-27T12:00:00Z");
        int[] read = {0};
        timers.schedule(after -> now.plusNanos(1), () -> {
            read[0]++;
            return now;
        }, this::note);
        clock.advance(Duration.ofMillis(2));
        assertEquals(1 + 2, read[0]);
        assertEquals(List.of(), runs);
    }

    // ---- summer time ----

    @Test
    void daily_springAndAutumn_runsOnceADayAtLocalTime() {
        TimerHandle spring = daily("02:30");
        clock.advance(ofDays(3)); // on 29 March the clocks skip 02:00 to 03:00
        assertEquals(instants("2026-03-28T01:30:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"), runs);
        spring.cancel();
        start("2026-10-24T12:00:00Z");
        daily("02:30");
        clock.advance(ofDays(2)); // on 25 October there are two of 02:30
        assertEquals(instants("2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"), runs);
    }

    @Test
    void daily_timeThatComesTwice_isTheFirstAlsoIfTheLookComesBetween() {
        Schedule schedule = daily("02:30", "Europe/Berlin");
        assertEquals(instants("2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"), first(2, schedule, "2026-10-24T12:00:00Z"));
        assertEquals(instants("2026-10-26T01:30:00Z"), first(1, schedule, "2026-10-25T01:10:00Z"));
    }

    @Test
    void daily_clocksMoveByHalfAnHour_isAsMuchLaterOrTheFirst() {
        assertEquals(instants("2026-10-02T15:45:00Z", "2026-10-03T15:45:00Z", "2026-10-04T15:15:00Z"),
                first(3, daily("02:15", "Australia/Lord_Howe"), "2026-10-02T00:00:00Z")); // 02:15, 02:45, 02:15
        assertEquals(instants("2026-04-03T14:45:00Z", "2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"),
                first(3, daily("01:45", "Australia/Lord_Howe"), "2026-04-03T00:00:00Z")); // 14:45 and 15:15 on the 4th
    }

    @Test
    void daily_midnightIsSkipped_isOneOClockOfThatDay() {
        assertEquals(instants("2018-11-03T03:00:00Z", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"),
                first(3, daily("00:00", "America/Sao_Paulo"), "2018-11-02T12:00:00Z"));
        start("2022-03-25T12:00:00Z");
        run(daily("00:15", "Asia/Beirut"));
        clock.advance(ofDays(3));
        assertEquals(instants("2022-03-25T22:15:00Z", "2022-03-26T22:15:00Z", "2022-03-27T21:15:00Z"), runs);
    }

    @Test
    void daily_skippedIntoTheNextDay_comesAlsoIfAskedOnThatDay() {
        Schedule schedule = daily("23:45", "America/Toronto"); // on 30 March 1919 the clocks skip 23:30 to 00:30
        assertEquals(instants("1919-03-30T04:45:00Z", "1919-03-31T04:45:00Z", "1919-04-01T03:45:00Z"),
                first(3, schedule, "1919-03-29T12:00:00Z"));
        assertEquals(instants("1919-03-31T04:45:00Z"), first(1, schedule, "1919-03-31T04:35:00Z"));
    }

    /** Samoa had no 30 December 2011, a Friday. */
    @Test
    void dayIsSkipped_comesOnTheNextDayOnce() {
        start("2011-12-29T12:00:00Z");
        run(daily("15:00", "Pacific/Apia"));
        clock.advance(ofDays(3));
        assertEquals(instants("2011-12-30T01:00:00Z", "2011-12-31T01:00:00Z", "2012-01-01T01:00:00Z"), runs);
        ZoneId apia = ZoneId.of("Pacific/Apia");
        assertEquals(instants("2011-12-24T01:00:00Z", "2011-12-31T01:00:00Z", "2012-01-06T01:00:00Z"), first(3,
                Schedule.weekly(DayOfWeek.FRIDAY, LocalTime.of(15, 0), apia), "2011-12-20T00:00:00Z"));
        assertEquals(instants("2011-12-01T01:00:00Z", "2011-12-31T01:00:00Z", "2012-01-30T01:00:00Z"), first(3,
                Schedule.monthly(30, LocalTime.of(15, 0), apia), "2011-11-20T00:00:00Z"));
    }

    /** In all zones whose clocks were changed in an odd way, for each quarter of an hour, also if a look comes late. */
    @Test
    void daily_anyZoneAndTime_isOnceOnEachDayThatTheZoneHas() {
        int checked = 0;
        for (String id : List.of("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo",
                "America/Sao_Paulo", "Asia/Beirut", "Pacific/Apia", "America/Havana", "Europe/Dublin")) {
            ZoneId zone = ZoneId.of(id);
            Instant end = LocalDate.of(2012, 1, 1).atStartOfDay(zone).toInstant();
            for (int quarter = 0; quarter < 96; quarter++) {
                LocalTime time = LocalTime.MIN.plusMinutes(15L * quarter);
                Schedule schedule = Schedule.daily(time, zone);
                for (int late : new int[] {0, 40, 70, 200}) {
                    Instant run = schedule.next(LocalDate.of(2011, 1, 1).atStartOfDay(zone).toInstant());
                    while (run.isBefore(end)) {
                        LocalDate day = LocalDate.ofInstant(run, zone);
                        LocalDate expected = day.plusDays(1); // or the day after, if the zone has left one out
                        if (!expected.atStartOfDay(zone).toLocalDate().equals(expected)) {
                            expected = expected.plusDays(1);
                        }
                        run = schedule.next(run.plusSeconds(60L * late));
                        assertEquals(expected, LocalDate.ofInstant(run, zone), id + " " + time + ", " + late + " min late");
                        checked++;
                    }
                }
            }
        }
        assertTrue(checked > 1_000_000, "only " + checked + " runs");
    }

    @Test
    void weeklyAndMonthly_comeOnTheirDays() {
        assertEquals(instants("2026-03-29T22:00:00Z", "2026-04-05T22:00:00Z"), first(2,
                Schedule.weekly(DayOfWeek.MONDAY, LocalTime.MIN, BERLIN), "2026-03-22T23:00:00Z"));
        assertEquals(instants("2026-01-31T08:00:00Z", "2026-02-28T08:00:00Z", "2026-03-31T07:00:00Z",
                "2026-04-30T07:00:00Z"), first(4, Schedule.monthly(31, LocalTime.of(9, 0), BERLIN), "2026-01-01T00:00:00Z"));
        assertThrows(IllegalArgumentException.class, () -> Schedule.monthly(0, LocalTime.MIN, BERLIN));
        assertThrows(IllegalArgumentException.class, () -> Schedule.monthly(32, LocalTime.MIN, BERLIN));
        assertThrows(NullPointerException.class, () -> Schedule.daily(null, BERLIN));
        assertThrows(NullPointerException.class, () -> Schedule.daily(LocalTime.MIN, null));
        assertThrows(NullPointerException.class, () -> Schedule.weekly(null, LocalTime.MIN, BERLIN));
    }

    // ---- runs, failures and ends ----

    @Test
    void runLastsBeyondTheNextTimes_runsOnceAtItsEnd() {
        timers.schedule(EACH_MINUTE, wall, () -> {
            note();
            if (runs.size() == 1) {
                set(ofSeconds(150)); // so long it takes
            }
        });
        clock.advance(ofMinutes(3));
        assertEquals(instants("2026-03-27T12:01:00Z", "2026-03-27T12:04:30Z", "2026-03-27T12:05:00Z"), runs.subList(0, 3));
    }

    @Test
    void taskThrows_goesOn() {
        timers.schedule(EACH_MINUTE, wall, () -> {
            note();
            throw new IllegalStateException("meant");
        });
        clock.advance(ofMinutes(3));
        assertEquals(instants("2026-03-27T12:01:00Z", "2026-03-27T12:02:00Z", "2026-03-27T12:03:00Z"), runs);
        assertThrown(3, "meant");
    }

    @Test
    void cancelled_byItsTask_runsNoMoreAndDoesNotWaitForItself() {
        TimerHandle[] handle = new TimerHandle[1];
        handle[0] = timers.schedule(EACH_MINUTE, wall, () -> {
            note();
            try {
                assertFalse(handle[0].cancelAndAwait(ofHours(1)));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        clock.advance(ofMinutes(5));
        assertEquals(1, runs.size());
        assertEquals(0, timers.pending());
        assertFalse(handle[0].isPending());
        assertNull(handle[0].task());
    }

    @Test
    void scheduleThrows_isAskedEachMinuteUntilItWorks_thenTheRunComes() {
        boolean[] broken = {false};
        int[] asked = {0};
        run(after -> {
            if (broken[0] && asked[0]++ < 1_000) {
                throw new IllegalStateException("meant");
            }
            return after.plusSeconds(30);
        });
        broken[0] = true;
        clock.advance(ofMinutes(3));
        assertEquals(3, asked[0]); // 30, 90 and 150 s after the start
        assertThrown(3, "meant");
        assertEquals(List.of(), runs);
        broken[0] = false;
        clock.advance(ofMinutes(1));
        assertEquals(instants("2026-03-27T12:03:30Z", "2026-03-27T12:04:00Z"), runs); // what was held up, then the next
    }

    @Test
    void clockThrows_isReadEachMinuteUntilItWorks() {
        boolean[] broken = {false};
        timers.schedule(EACH_MINUTE, () -> {
            if (broken[0]) {
                throw new IllegalStateException("meant");
            }
            return wall.instant();
        }, this::note);
        broken[0] = true;
        clock.advance(ofMinutes(3));
        assertThrown(3, "meant");
        broken[0] = false;
        clock.advance(ofMinutes(1));
        assertEquals(1, runs.size());
    }

    @Test
    void timeIsNotAfterTheInstant_isAFailure() {
        assertThrows(IllegalStateException.class, () -> run(after -> after));
        boolean[] broken = {false};
        run(after -> broken[0] ? after : after.plusSeconds(60));
        broken[0] = true;
        clock.advance(ofMinutes(2));
        assertEquals(2, thrown.size());
        assertEquals("the schedule's next time must be after 2026-03-27T12:01:00Z, but is 2026-03-27T12:01:00Z",
                thrown.get(0).getMessage());
        thrown.clear();
    }

    @Test
    void scheduleHasNoMoreTimes_lastRunComesAndItEnds() {
        Instant last = Instant.parse("2026-03-27T12:02:00Z");
        TimerHandle handle = run(after -> after.isBefore(last) ? EACH_MINUTE.next(after) : null);
        clock.advance(ofMinutes(10));
        assertEquals(instants("2026-03-27T12:01:00Z", "2026-03-27T12:02:00Z"), runs);
        assertFalse(handle.isPending());
        TimerStats s = timers.stats();
        assertEquals(s.armed(), s.fired() + s.stopped() + s.resets() + s.unfired() + s.pending());
        assertEquals(0, s.pending());
    }

    @Test
    void lastRunThrows_listenerGetsItsTask() {
        TimerHandle[] handle = new TimerHandle[1];
        Runnable task = () -> {
            throw new IllegalStateException("last, pending " + handle[0].isPending());
        };
        Instant last = Instant.parse("2026-03-27T12:02:00Z");
        handle[0] = timers.schedule(after -> after.isBefore(last) ? last : null, wall, task);
        clock.advance(ofMinutes(10));
        assertThrown(1, "last, pending false");
        assertEquals(List.of(task), failed);
        assertNull(handle[0].task());
    }

    @Test
    void scheduleHasNoTimeAtAll_isRefusedAndLeavesNoTimer() {
        assertThrows(IllegalArgumentException.class, () -> run(after -> null));
        assertThrows(NullPointerException.class, () -> timers.schedule(null, wall, this::note));
        assertThrows(NullPointerException.class, () -> timers.schedule(EACH_MINUTE, null, this::note));
        assertThrows(NullPointerException.class, () -> timers.schedule(EACH_MINUTE, wall, null));
        assertEquals(0, timers.pending());
    }

    @Test
    void farAway_isNeverDueButLooksOn() {
        run(after -> Instant.MAX);
        assertEquals(24 * 60, clock.advance(ofDays(1)));
        assertEquals(List.of(), runs);
        assertEquals(1, timers.pending());
    }

    /** Its next look is armed when a run begins, so the limit cannot be reached meanwhile. */
    @Test
    void limitIsReachedMeanwhile_goesOn() {
        try (TimerScheduler full = scheduler().maxPending(1).build()) {
            full.schedule(EACH_MINUTE, wall, () -> {
                note();
                assertThrows(RejectedExecutionException.class, () -> full.after(ofHours(1), () -> {}));
            });
            clock.advance(ofMinutes(3));
            assertEquals(3, runs.size());
        }
    }

    @Test
    void pending_isNamedByItsTask_andReturnedByAShutdown() {
        Runnable task = this::note;
        try (TimerScheduler own = scheduler().build()) {
            TimerHandle handle = own.schedule(EACH_MINUTE, wall, task);
            assertSame(task, handle.task());
            assertEquals(Map.of(task.getClass(), 1L), own.pendingByTask());
            assertEquals(ofMinutes(1), handle.remaining());
            assertTrue(handle.toString().startsWith("Schedule["), handle::toString);
            assertTrue(handle.toString().contains(", next run at 2026-03-27T12:01:00Z"), handle::toString);
            assertEquals(List.of(handle), own.shutdownNow());
            assertThrows(RejectedExecutionException.class, () -> own.schedule(EACH_MINUTE, wall, task));
        }
        clock.advance(ofMinutes(2));
        assertEquals(List.of(), runs);
    }

    @Test
    void loop_runsItOnItsThread() {
        try (TimerLoop loop = timers.attach(() -> {})) {
            loop.schedule(EACH_MINUTE, wall, this::note);
            clock.advance(ofMinutes(1));
            assertEquals(List.of(), runs);
            assertEquals(1, loop.runDue());
            assertEquals(instants("2026-03-27T12:01:00Z"), runs);
        }
    }

    /** A cancel beside a run, at any moment of it. */
    @Test
    void cancelAndAwait_runInProgress_noneBeginsAfterwards() throws Exception {
        try (TimerScheduler real = TimerScheduler.builder().name("wall").build()) {
            for (int i = 0; i < Scale.of(100, 2_000); i++) {
                AtomicLong begun = new AtomicLong();
                AtomicLong ended = new AtomicLong();
                CountDownLatch first = new CountDownLatch(1);
                TimerHandle handle = real.schedule(after -> after.plusMillis(1), Clock.systemUTC(), () -> {
                    begun.incrementAndGet();
                    first.countDown();
                    ended.incrementAndGet();
                });
                assertTrue(first.await(60, TimeUnit.SECONDS));
                assertTrue(handle.cancelAndAwait(ofSeconds(60)));
                assertEquals(begun.get(), ended.get());
                assertFalse(handle.isPending());
            }
            assertEquals(0, real.pending());
        }
    }

    // ---- ManualClock.asClock ----

    @Test
    void asClock_movesWithTheManualClock() {
        ManualClock manual = new ManualClock(Long.MAX_VALUE - 5); // wraps around
        Instant start = Instant.parse("2026-03-29T00:59:59Z");
        Clock c = manual.asClock(start, BERLIN);
        assertEquals(BERLIN, c.getZone());
        assertEquals(start, c.instant());
        assertEquals(LocalTime.of(1, 59, 59), LocalTime.now(c));
        manual.advance(ofSeconds(1));
        assertEquals(start.plusSeconds(1), c.instant());
        assertEquals(LocalTime.of(3, 0), LocalTime.now(c));
        assertEquals(c.instant(), c.withZone(ZoneOffset.UTC).instant());
        assertEquals(start, manual.asClock(start, BERLIN).instant());
        assertThrows(NullPointerException.class, () -> manual.asClock(null, BERLIN));
        assertThrows(NullPointerException.class, () -> manual.asClock(start, null));
    }
}
