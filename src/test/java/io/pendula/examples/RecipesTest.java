package io.pendula.examples;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.Scale;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerScheduler;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.CountDownLatch;
import java.util.Collections;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The recipes do what docs/recipes.md says of them. */
@Timeout(120)
@SuppressWarnings("try") // a clock or group that is only opened and closed
class RecipesTest {
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).build();
    private final List<Long> at = new ArrayList<>();

    @AfterEach
    void close() {
        timers.close();
    }

    private void note() {
        at.add(clock.nanoTime() / 1_000_000);
    }

    @Test
    void debouncer_burst_runsOnceWhenItIsOver() {
        try (Debouncer d = new Debouncer(timers, ofMillis(100), this::note)) {
            clock.advance(ofSeconds(5));
            for (int i = 0; i < 10; i++) {
                d.event();
                clock.advance(ofMillis(50));
            }
            assertEquals(List.of(), at);
            clock.advance(ofSeconds(1));
            assertEquals(List.of(5550L), at);
            d.event();
            d.event();
            clock.advance(ofSeconds(1));
            assertEquals(List.of(5550L, 6600L), at);
            d.event();
        }
        clock.advance(ofSeconds(1));
        assertEquals(2, at.size());
        assertEquals(0, timers.pending());
    }

    @Test
    void throttle_burst_runsAtOnceThenOncePerInterval() {
        try (Throttle t = new Throttle(timers, ofMillis(100), this::note)) {
            clock.advance(ofSeconds(1));
            for (int i = 0; i < 25; i++) {
                t.event();
                clock.advance(ofMillis(10));
            }
            clock.advance(ofSeconds(1));
            assertEquals(List.of(1000L, 1100L, 1200L, 1300L), at, "the last event, at 1240, has its run");
            t.event();
            clock.advance(Duration.ZERO);
            assertEquals(2250L, at.get(4));
        }
        assertEquals(0, timers.pending());
    }

    @Test
    void retry_failsTwice_succeedsAfterTwoPausesWithinTheirLimits() {
        Retry retry = new Retry(timers, new SplittableRandom(1), 5, ofMillis(100), ofSeconds(10));
        CompletableFuture<String> result = retry.call(() -> {
            note();
            return at.size() < 3 ? CompletableFuture.failedFuture(new IllegalStateException("x"))
                    : CompletableFuture.completedFuture("answer");
        });
        clock.advance(ofSeconds(1));
        assertEquals("answer", result.join());
        assertEquals(3, at.size());
        assertTrue(at.get(1) <= 100 && at.get(2) - at.get(1) <= 200, at::toString);
        assertEquals(0, timers.pending());
    }

    @Test
    void retry_failsAlways_givesUpAndSpreads() {
        List<Long> pauses = new ArrayList<>();
        for (int seed = 0; seed < 200; seed++) {
            at.clear();
            Retry retry = new Retry(timers, new SplittableRandom(seed), 6, ofMillis(100), ofMillis(400));
            IllegalStateException e = new IllegalStateException("x");
            CompletableFuture<String> result = retry.call(() -> {
                note();
                return CompletableFuture.failedFuture(e);
            });
            clock.advance(ofSeconds(10));
            assertEquals(e, assertThrows(CompletionException.class, result::join).getCause());
            assertEquals(6, at.size());
            for (int i = 1; i < 6; i++) {
                long limit = Math.min(400, 100L << i - 1);
                long pause = at.get(i) - at.get(i - 1);
                assertTrue(pause <= limit, () -> "pause of " + pause + " ms, limit " + limit);
                pauses.add(pause * 100 / limit);
            }
        }
        assertTrue(pauses.stream().filter(p -> p < 50).count() > 350, "of 1000 about half are short");
        assertTrue(pauses.stream().filter(p -> p >= 50).count() > 350, "and half are long");
    }

    @Test
    void retry_operationThrows_isAFailureLikeAnyOther() {
        Retry retry = new Retry(timers, new SplittableRandom(1), 3, ofMillis(100), ofSeconds(10));
        IllegalStateException e = new IllegalStateException("x");
        CompletableFuture<String> result = retry.call(() -> {
            note();
            throw e;
        });
        clock.advance(ofSeconds(1));
        assertEquals(e, assertThrows(CompletionException.class, result::join).getCause());
        assertEquals(3, at.size());
    }

    /** Or returns null, or throws an Error, in a callback of the scheduler, where no caller hears of it. */
    @Test
    void retry_operationThrowsAnythingOrReturnsNull_isAFailureLikeAnyOther() {
        List<Supplier<CompletableFuture<String>>> operations = List.of(() -> {
            throw new NoClassDefFoundError("meant");
        }, () -> null);
        for (Supplier<CompletableFuture<String>> operation : operations) {
            Retry retry = new Retry(timers, new SplittableRandom(1), 3, ofMillis(100), ofSeconds(10));
            int[] calls = {0};
            CompletableFuture<String> result = retry.call(() -> {
                calls[0]++;
                return calls[0] == 1 ? CompletableFuture.failedFuture(new IOException("meant")) : operation.get();
            });
            clock.advance(ofSeconds(1));
            assertTrue(result.isCompletedExceptionally());
            assertEquals(3, calls[0]);
        }
    }

    @Test
    void retry_schedulerIsClosed_failsAtOnce() {
        Retry retry = new Retry(timers, new SplittableRandom(1), 3, ofMillis(100), ofSeconds(10));
        timers.close();
        IllegalStateException e = new IllegalStateException("x");
        CompletableFuture<String> result = retry.call(() -> CompletableFuture.failedFuture(e));
        assertEquals(e, assertThrows(CompletionException.class, result::join).getCause());
        assertEquals(RejectedExecutionException.class, e.getSuppressed()[0].getClass());
    }

    @Test
    void retry_schedulerIsClosedDuringAPause_failsAsTheLastAttemptDid() {
        Retry retry = new Retry(timers, new SplittableRandom(1), 3, ofMillis(100), ofSeconds(10));
        IllegalStateException e = new IllegalStateException("x");
        CompletableFuture<String> result = retry.call(() -> CompletableFuture.failedFuture(e));
        assertFalse(result.isDone());
        timers.close();
        assertTrue(result.isDone());
        assertSame(e, assertThrows(CompletionException.class, result::join).getCause());
        assertEquals(CancellationException.class, e.getSuppressed()[0].getClass());
    }

    @Test
    void retry_callerGivesUpOrTimersAreClosed_endsIt() {
        Retry retry = new Retry(timers, new SplittableRandom(3), 100, ofSeconds(1), ofSeconds(1));
        IllegalStateException e = new IllegalStateException("x");
        Supplier<CompletableFuture<String>> failing = () -> {
            note();
            return CompletableFuture.failedFuture(e);
        };
        CompletableFuture<String> result = retry.call(failing);
        assertTrue(result.cancel(false));
        clock.advance(ofMinutes(5));
        assertEquals(1, at.size());
        assertEquals(0, timers.pending());
        timers.close();
        CompletableFuture<String> late = retry.call(failing);
        assertSame(e, assertThrows(CompletionException.class, late::join).getCause());
    }

    @Test
    void sessions_usedWhileItExpires_livesOn() {
        List<Runnable> handedOver = new ArrayList<>();
        try (TimerScheduler timers = TimerScheduler.builder().clock(clock).executor(handedOver::add).build()) {
            Sessions sessions = new Sessions(timers, ofMinutes(30));
            sessions.open(1L);
            clock.advance(ofMinutes(30));
            assertTrue(sessions.touch(1L)); // its callback waits
            handedOver.remove(0).run();
            assertEquals(1, sessions.size());
            clock.advance(ofMinutes(30));
            handedOver.remove(0).run();
            assertFalse(sessions.touch(1L));
        }
    }

    @Test
    void sessions_manyAtOnce_expireUnlessTheyAreUsed() {
        Sessions sessions = new Sessions(timers, ofMinutes(30));
        int many = Scale.of(200_000, 1_000_000);
        for (long id = 0; id < many; id++) {
            sessions.open(id);
        }
        assertEquals(many, timers.pending());
        clock.advance(ofMinutes(29));
        for (long id = 0; id < many; id += 4) {
            assertTrue(sessions.touch(id));
        }
        for (long id = 1; id < many; id += 4) {
            sessions.close(id);
        }
        clock.advance(ofMinutes(1));
        assertEquals(many / 4, sessions.size());
        assertFalse(sessions.touch(1L));
        assertFalse(sessions.touch(2L));
        assertTrue(sessions.touch(4L));
        clock.advance(ofMinutes(30));
        assertEquals(0, sessions.size());
        assertEquals(0, timers.pending());
    }

    // ---- wall clock ----

    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    private Instant wall = Instant.parse("2026-03-27T12:00:00Z");
    private final List<Instant> runs = new ArrayList<>();

    private WallClock daily(String time) {
        UnaryOperator<Instant> next = WallClock.dailyAt(LocalTime.parse(time), BERLIN);
        return new WallClock(timers, () -> wall, next, () -> runs.add(wall));
    }

    /** Both clocks go on. */
    private void pass(Duration time) {
        for (Duration left = time; !left.isZero(); left = left.minusSeconds(10)) {
            clock.advance(ofSeconds(10));
            wall = wall.plusSeconds(10);
        }
        clock.advance(Duration.ZERO);
    }

    private static List<Instant> instants(String... texts) {
        return List.of(texts).stream().map(Instant::parse).toList();
    }

    private void assertRuns(String... expected) {
        List<Instant> all = instants(expected);
        assertEquals(all.size(), runs.size(), runs::toString);
        for (int i = 0; i < all.size(); i++) {
            Duration late = Duration.between(all.get(i), runs.get(i));
            assertTrue(!late.isNegative() && late.compareTo(ofSeconds(61)) <= 0, () -> "expected " + all + ", ran " + runs);
        }
    }

    @Test
    void wallClock_springAndAutumn_runsOnceADayAtLocalTime() {
        try (WallClock w = daily("02:30")) {
            pass(Duration.ofDays(3)); // on 29 March the clocks skip 02:00 to 03:00
            assertRuns("2026-03-28T01:30:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z");
        }
        runs.clear();
        wall = Instant.parse("2026-10-24T12:00:00Z");
        try (WallClock w = daily("02:30")) {
            pass(Duration.ofDays(2)); // on 25 October there are two of 02:30
            assertRuns("2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z");
        }
    }

    @Test
    void wallClock_suspended_runsWithinAMinuteOfWakingUp() {
        try (WallClock w = daily("15:00")) { // 14:00 UTC
            pass(ofMinutes(30));
            wall = wall.plus(Duration.ofHours(6)); // while the monotonic clock stands still
            pass(ofMinutes(2));
            assertEquals(1, runs.size());
            assertTrue(Duration.between(Instant.parse("2026-03-27T18:30:00Z"), runs.get(0)).compareTo(ofSeconds(70)) <= 0);
            pass(Duration.ofDays(1));
            assertEquals(2, runs.size());
        }
    }

    @Test
    void wallClock_setBackAfterARun_doesNotRunTwice() {
        try (WallClock w = daily("15:00")) {
            pass(Duration.ofHours(2).plusMinutes(5));
            assertEquals(1, runs.size());
            wall = wall.minus(Duration.ofHours(1));
            pass(Duration.ofHours(3));
            assertEquals(1, runs.size());
        }
        assertEquals(0, timers.pending());
    }

    /** Also if the clock is wrong at the start, and set later. */
    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT-6H", "P1D", "P-1D", "P-3D", "P-730D", "P7305D"})
    void wallClock_set_runsOnEachDayOfTheNewClock(Duration step) {
        wall = Instant.parse("2026-06-10T12:30:00Z");
        try (WallClock w = daily("15:00")) { // 13:00 UTC
            pass(ofMinutes(20));
            wall = wall.plus(step);
            pass(ofMinutes(2));
            runs.clear(); // after a step ahead there is one, of the times that were missed
            for (int day = 1; day <= 5; day++) {
                pass(Duration.ofDays(1));
                assertEquals(day, runs.size(), runs::toString);
                Duration late = Duration.between(LocalTime.of(15, 0), runs.get(day - 1).atZone(BERLIN).toLocalTime());
                assertTrue(!late.isNegative() && late.compareTo(ofSeconds(61)) <= 0, runs::toString);
            }
        }
    }

    @Test
    void wallClock_ranByAWrongClock_runsAgainAtTheSameTimeByTheNewClock() {
        try (WallClock w = daily("15:00")) {
            pass(Duration.ofHours(3));
            wall = wall.minus(Duration.ofDays(1));
            pass(Duration.ofDays(1));
            assertRuns("2026-03-27T14:00:00Z", "2026-03-27T14:00:00Z");
        }
    }

    private static final UnaryOperator<Instant> EACH_MINUTE =
            after -> after.truncatedTo(ChronoUnit.MINUTES).plusSeconds(60);

    @ParameterizedTest
    @CsvSource({"PT-1S, PT250S", "PT-90S, PT330S"})
    void wallClock_setBackToBeforeTheLastRun_doesNotRunTwiceAtItsTime(Duration step, Duration then) {
        try (WallClock w = new WallClock(timers, () -> wall, EACH_MINUTE, () -> runs.add(wall))) {
            pass(ofSeconds(130));
            assertEquals(2, runs.size());
            wall = wall.plus(step);
            pass(then); // until 12:06:19 or 12:06:10
            assertRuns("2026-03-27T12:01:00Z", "2026-03-27T12:02:00Z", "2026-03-27T12:03:00Z", "2026-03-27T12:04:00Z",
                    "2026-03-27T12:05:00Z", "2026-03-27T12:06:00Z");
        }
    }

    @Test
    void wallClock_setBackByManyPeriods_doesNotStandStill() {
        try (WallClock w = new WallClock(timers, () -> wall, EACH_MINUTE, () -> runs.add(wall))) {
            pass(ofSeconds(130));
            wall = wall.minus(Duration.ofHours(1));
            pass(ofMinutes(6));
            assertTrue(runs.size() >= 2 + 5, runs::toString);
        }
    }

    /** A schedule may be dear: what a look costs is bounded, also if the last run is ahead. */
    @Test
    void wallClock_eachLook_asksTheScheduleAtMostTwice() {
        int[] asked = {0};
        try (WallClock w = new WallClock(timers, () -> wall, after -> {
            asked[0]++;
            return after.truncatedTo(ChronoUnit.HOURS).plusSeconds(3600);
        }, () -> runs.add(wall))) {
            pass(ofMinutes(61));
            assertEquals(1, runs.size());
            asked[0] = 0;
            pass(ofMinutes(10));
            assertEquals(10, asked[0]);
            wall = wall.minus(ofMinutes(30)); // to before the run
            pass(ofMinutes(10));
            assertEquals(30, asked[0]);
        }
    }

    @Test
    void wallClock_setForward_isNoticedWithinAMinute() {
        try (WallClock w = daily("15:00")) {
            wall = Instant.parse("2026-03-27T13:59:30Z");
            pass(ofMinutes(2));
            assertRuns("2026-03-27T14:00:00Z");
        }
    }

    @Test
    void wallClock_closedByItsTask_runsNoMoreAndThrowsNothing() {
        List<Throwable> thrown = new ArrayList<>();
        try (TimerScheduler heard = hearing(clock, thrown)) {
            WallClock[] w = new WallClock[1];
            w[0] = new WallClock(heard, () -> wall, now -> now.plusSeconds(30), () -> {
                note();
                w[0].close();
            });
            pass(ofMinutes(5));
            assertEquals(1, at.size());
            assertEquals(List.of(), thrown);
            assertEquals(0, heard.pending());
        }
    }

    /** A schedule that fails is asked once a minute, and the run that it has held up comes when it works again. */
    @Test
    void wallClock_scheduleThrows_isAskedEachMinuteUntilItWorks() {
        List<Throwable> thrown = new ArrayList<>();
        boolean[] broken = {false};
        int[] asked = {0};
        try (TimerScheduler heard = hearing(clock, thrown);
                WallClock w = new WallClock(heard, () -> wall, after -> {
                    if (broken[0] && asked[0]++ < 1_000) {
                        throw new IllegalStateException("meant");
                    }
                    return after.plusSeconds(30);
                }, () -> runs.add(wall))) {
            broken[0] = true;
            pass(ofMinutes(3));
            assertEquals(3, asked[0]); // by the looks 30, 90 and 150 s after the constructor's
            assertEquals(3, thrown.size());
            assertEquals(List.of(), runs);
            broken[0] = false;
            pass(ofMinutes(1));
            assertEquals(instants("2026-03-27T12:03:20Z", "2026-03-27T12:03:50Z"), runs); // what was held up, then the next
            assertEquals(3, thrown.size());
        }
    }

    /** In all zones whose clocks were changed in an odd way, for each quarter of an hour, also if a look comes late. */
    @Test
    void dailyAt_anyZoneAndTime_isOnceOnEachDayThatTheZoneHas() {
        int checked = 0;
        for (String id : List.of("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo",
                "America/Sao_Paulo", "Asia/Beirut", "Pacific/Apia", "America/Havana", "Europe/Dublin")) {
            ZoneId zone = ZoneId.of(id);
            Instant end = LocalDate.of(2012, 1, 1).atStartOfDay(zone).toInstant();
            for (int quarter = 0; quarter < 96; quarter++) {
                LocalTime time = LocalTime.MIN.plusMinutes(15L * quarter);
                UnaryOperator<Instant> next = WallClock.dailyAt(time, zone);
                for (int late : new int[] {0, 40, 70, 200}) {
                    Instant run = next.apply(LocalDate.of(2011, 1, 1).atStartOfDay(zone).toInstant());
                    while (run.isBefore(end)) {
                        LocalDate day = LocalDate.ofInstant(run, zone);
                        LocalDate expected = day.plusDays(1); // or the day after, if the zone has left one out
                        if (!expected.atStartOfDay(zone).toLocalDate().equals(expected)) {
                            expected = expected.plusDays(1);
                        }
                        run = next.apply(run.plusSeconds(60L * late));
                        assertEquals(expected, LocalDate.ofInstant(run, zone), id + " " + time + ", " + late + " min late");
                        checked++;
                    }
                }
            }
        }
        assertTrue(checked > 1_000_000, "only " + checked + " runs");
    }

    @Test
    void dailyAt_timeThatComesTwice_isTheFirstAlsoIfTheLookComesBetween() {
        UnaryOperator<Instant> next = WallClock.dailyAt(LocalTime.parse("02:30"), BERLIN);
        assertEquals(Instant.parse("2026-10-25T00:30:00Z"), next.apply(Instant.parse("2026-10-24T12:00:00Z")));
        assertEquals(Instant.parse("2026-10-26T01:30:00Z"), next.apply(Instant.parse("2026-10-25T01:10:00Z")));
    }

    // ---- groups ----

    @Test
    void group_closed_nothingOfItRuns() {
        TimerGroup group = new TimerGroup(timers);
        for (int i = 1; i <= 10; i++) {
            group.after(ofMillis(i), this::note);
        }
        timers.after(ofMillis(20), this::note);
        clock.advance(ofMillis(3));
        assertEquals(7, group.size());
        group.close();
        group.after(ofMillis(5), this::note);
        clock.advance(ofSeconds(1));
        assertEquals(List.of(1L, 2L, 3L, 20L), at);
        assertEquals(0, group.size());
        assertEquals(0, timers.pending());
        timers.close();
        TimerGroup late = new TimerGroup(timers);
        assertThrows(RejectedExecutionException.class, () -> late.after(ofMillis(1), this::note));
        assertEquals(0, late.size());
    }

    @Test
    void group_armingIsRejected_keepsNothing() {
        try (TimerScheduler full = TimerScheduler.builder().clock(clock).maxPending(1).build();
                TimerGroup group = new TimerGroup(full)) {
            group.after(ofMillis(1), this::note);
            assertThrows(RejectedExecutionException.class, () -> group.after(ofMillis(2), this::note));
            assertEquals(1, group.size());
        }
    }

    @Test
    void sleepProofTimer_suspension_counts() {
        Instant[] now = {Instant.EPOCH};
        try (SleepProofTimer t = new SleepProofTimer(timers, () -> now[0], ofMinutes(10), this::note)) {
            now[0] = now[0].plus(ofMinutes(1));
            clock.advance(ofMinutes(1));
            assertEquals(List.of(), at);
            now[0] = now[0].plus(Duration.ofHours(1)); // suspended: the monotonic clock stood still
            clock.advance(ofSeconds(15));
            assertEquals(List.of(75_000L), at);
            clock.advance(Duration.ofHours(1));
            assertEquals(1, at.size());
            assertEquals(0, timers.pending());
        }
    }

    @Test
    void sleepProofTimer_clockIsSetBack_runsWhenTheTimersClockHasCountedTheDelay() {
        Instant[] now = {Instant.EPOCH};
        try (SleepProofTimer t = new SleepProofTimer(timers, () -> now[0], ofMinutes(10), this::note)) {
            clock.advance(ofMinutes(1));
            now[0] = now[0].minus(Duration.ofDays(730));
            clock.advance(ofMinutes(9).minusNanos(1));
            assertEquals(List.of(), at);
            clock.advance(ofSeconds(15));
            assertEquals(1, at.size());
            assertEquals(0, timers.pending());
        }
    }

    @Test
    void sleepProofTimer_noSuspension_isInTimeAndEndsWhenClosed() {
        try (SleepProofTimer t = new SleepProofTimer(timers, () -> Instant.ofEpochSecond(0, clock.nanoTime()),
                ofSeconds(40), this::note)) {
            clock.advance(ofMinutes(1));
            assertEquals(List.of(40_000L), at);
        }
        SleepProofTimer closed = new SleepProofTimer(timers, () -> Instant.EPOCH, ofSeconds(40), this::note);
        closed.close();
        assertEquals(0, timers.pending());
    }

    @Test
    void asyncRepeater_pause_countsFromTheEndOfTheStage() {
        List<CompletableFuture<String>> stages = new ArrayList<>();
        AsyncRepeater repeater = new AsyncRepeater(timers, ofSeconds(1), () -> {
            note();
            stages.add(new CompletableFuture<>());
            return stages.get(stages.size() - 1);
        });
        clock.advance(ofSeconds(5));
        assertEquals(List.of(0L), at, "the first stage is not complete");
        stages.get(0).complete("x");
        clock.advance(ofSeconds(3));
        assertEquals(List.of(0L, 6000L), at);
        stages.get(1).completeExceptionally(new IllegalStateException("x"));
        clock.advance(ofSeconds(1));
        assertEquals(List.of(0L, 6000L, 9000L), at);
        repeater.close();
        stages.get(2).complete("x");
        clock.advance(ofMinutes(1));
        assertEquals(3, at.size());
        assertEquals(0, timers.pending());
    }

    /** Whatever the task does in place of returning a stage. */
    @Test
    void asyncRepeater_taskThrowsAnythingOrReturnsNull_isReportedAndGoesOn() {
        List<Supplier<CompletionStage<?>>> tasks = List.of(() -> {
            throw new IllegalStateException("meant");
        }, () -> {
            throw new NoClassDefFoundError("meant");
        }, () -> sneak(new IOException("meant")), () -> null);
        for (Supplier<CompletionStage<?>> task : tasks) {
            List<Throwable> thrown = new ArrayList<>();
            ManualClock own = new ManualClock();
            try (TimerScheduler scheduler = hearing(own, thrown);
                    AsyncRepeater repeater = new AsyncRepeater(scheduler, ofSeconds(1), task)) {
                own.advance(ofMillis(2500));
                assertEquals(3, thrown.size(), thrown::toString);
            }
        }
    }

    static TimerScheduler hearing(ManualClock clock, List<Throwable> thrown) {
        return TimerScheduler.builder().clock(clock).listener(new TimerListener() {
            @Override
            public void threw(TimerHandle timer, long latenessNanos, Throwable t) {
                thrown.add(t);
            }
        }).build();
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> CompletionStage<?> sneak(Throwable t) throws E {
        throw (E) t;
    }

    @Test
    void loopLag_loopIsBusyOrStuck_isToldOfEachProbeAndShowsTheOneThatWaits() {
        List<Runnable> handedOver = new ArrayList<>();
        List<Long> lags = new ArrayList<>();
        try (LoopLag lag = new LoopLag(timers, ofMillis(100), handedOver::add, nanos -> lags.add(nanos / 1_000_000))) {
            clock.advance(ofMillis(130));
            assertEquals(30_000_000, lag.waitingNanos());
            handedOver.remove(0).run();
            assertEquals(List.of(30L), lags);
            assertEquals(0, lag.waitingNanos());
            clock.advance(ofSeconds(2)); // stuck: one probe waits, however long
            assertEquals(1, handedOver.size());
            assertEquals(1_930_000_000, lag.waitingNanos());
            handedOver.remove(0).run();
            assertEquals(List.of(30L, 1930L), lags);
        }
        assertEquals(0, timers.pending());
    }

    @Test
    void loopLag_loopRefuses_isReportedAndTheNextProbeComes() {
        List<Throwable> thrown = new ArrayList<>();
        try (TimerScheduler scheduler = hearing(clock, thrown); LoopLag lag = new LoopLag(scheduler, ofMillis(100), r -> {
            throw new RejectedExecutionException("meant");
        }, nanos -> {})) {
            clock.advance(ofMillis(250));
            assertEquals(2, thrown.size());
            assertEquals(0, lag.waitingNanos());
        }
    }

    @Test
    void flusher_closed_flushesWhatHasComeSince() throws Exception {
        AtomicInteger count = new AtomicInteger();
        List<Integer> flushed = new ArrayList<>();
        Flusher flusher = new Flusher(timers, ofSeconds(10), () -> flushed.add(count.getAndSet(0)));
        count.set(1);
        clock.advance(ofSeconds(10));
        count.set(2);
        assertTrue(flusher.close(ofSeconds(1)));
        clock.advance(ofSeconds(60));
        assertEquals(List.of(1, 2), flushed);
    }

    @Test
    void flusher_closedDuringAFlush_waitsForItOrSaysThatItGoesOn() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        List<String> flushes = Collections.synchronizedList(new ArrayList<>());
        Flusher flusher = new Flusher(timers, ofSeconds(10), () -> {
            inside.countDown();
            try {
                leave.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            flushes.add("ended");
        });
        Thread runs = new Thread(() -> clock.advance(ofSeconds(10)));
        runs.start();
        inside.await();
        assertFalse(flusher.close(Duration.ZERO));
        assertEquals(List.of(), flushes);
        leave.countDown();
        assertTrue(flusher.close(ofSeconds(60)));
        assertEquals(List.of("ended", "ended"), flushes);
        runs.join();
    }

    @Test
    void pausableTimer_paused_keepsTheTimeThatIsLeft() {
        PausableTimer t = new PausableTimer(timers, ofSeconds(10), this::note);
        assertFalse(t.resume(), "it is not paused");
        clock.advance(ofSeconds(4));
        assertTrue(t.pause());
        assertFalse(t.pause(), "it is paused already");
        clock.advance(ofMinutes(1));
        assertEquals(List.of(), at);
        assertTrue(t.resume());
        clock.advance(ofSeconds(7));
        assertEquals(List.of(70_000L), at);
        assertFalse(t.pause(), "it has fired");
        t.close();
        assertFalse(t.resume());
        assertEquals(0, timers.pending());
    }
}
