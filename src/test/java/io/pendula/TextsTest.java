package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.util.Texts;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;


/** What people read of the library's objects. */
class TextsTest {
    private final ManualClock clock = new ManualClock();

    @ParameterizedTest
    @CsvSource({"0, 0 ms", "1, 1 ns", "999, 999 ns", "1000, 0.001 ms", "319420, 0.319 ms", "999999, 0.999 ms",
        "1234567, 1.234 ms", "10000000, 10 ms", "100082744, 100.082 ms", "999999999, 999.999 ms", "1000000000, 1 s",
        "29998028903, 29.998 s", "59999999999, 59.999 s", "60000000000, 1 min", "3600000000000, 1 h", "3605000000000, 1 h 5 s",
        "5400000000000, 1 h 30 min", "93784999999999, 26 h 3 min 4 s"})
    void duration_hasTheDigitsThatMatter_andIsNeverTooLong(long nanos, String text) {
        assertEquals(text, Texts.duration(nanos));
    }

    @ParameterizedTest
    @CsvSource({"0, 0 loops", "1, 1 loop", "2, 2 loops"})
    void count_hasTheRightPlural(int count, String text) {
        assertEquals(text, Texts.count(count, "loop"));
    }

    @Test
    void timerBeyondAllTime_isNeverDue_alsoYearsLater() {
        try (TimerScheduler timers = TimerScheduler.builder().name("io").clock(clock).build()) {
            Timer never = timers.after(Long.MAX_VALUE, TimeUnit.DAYS, new TimerHandleTest.Heartbeat());
            String text = "Timer[" + TimerHandleTest.Heartbeat.class.getName() + ", never due, scheduler io]";
            assertEquals(text, never.toString());
            assertTrue(timers.pendingTimers(1).get(0).toString().contains(", never due, "));
            clock.advance(Duration.ofDays(4 * 365));
            assertEquals(text, never.toString());
            Timer inTenYears = timers.after(Duration.ofDays(3_650), new TimerHandleTest.Heartbeat());
            assertTrue(inTenYears.toString().contains(", due in 87600 h, "), inTenYears::toString);
            clock.advance(Duration.ofNanos(timers.engine.timeline.left()));
            assertEquals(text, never.toString());
            assertEquals(Long.MAX_VALUE, never.remaining().toNanos());
            assertEquals(Long.MAX_VALUE, timers.stats().nanosUntilNext());
            assertTrue(timers.pendingTimers(1).get(0).toString().contains(", never due, "));
        }
    }

    @Test
    void scheduler_withOneWorkerAndOneLoop() {
        try (TimerScheduler timers = TimerScheduler.builder().name("io").workers(1).build()) {
            assertEquals("TimerScheduler[io, 1 worker]", timers.toString());
            try (TimerLoop loop = timers.attach(() -> {})) {
                assertEquals("TimerScheduler[io, 1 worker, 1 loop]", timers.toString());
                assertEquals("TimerLoop[" + Thread.currentThread().getName() + ", scheduler io]",
                        loop.toString());
            }
        }
    }

    @Test
    void pool_tellsItsThreadsAndWhatWaits_aViewItsScheduler() throws InterruptedException {
        try (SchedulerExecutor pool = TimerExecutors.builder().name("db").threads(4).build()) {
            assertEquals("SchedulerExecutor[db, 4 threads, 0 pending]", pool.toString());
            ScheduledFuture<?> future = pool.schedule(() -> {}, 1, TimeUnit.HOURS);
            assertEquals("SchedulerExecutor[db, 4 threads, 1 pending]", pool.toString());
            future.cancel(false);
            pool.shutdownNow();
            assertTrue(pool.awaitTermination(30, TimeUnit.SECONDS));
            assertEquals("SchedulerExecutor[db, 4 threads, 0 pending, terminated]", pool.toString());
        }
        try (SchedulerExecutor pool = TimerExecutors.builder().name("one").threads(1).build()) {
            assertEquals("SchedulerExecutor[one, 1 thread, 0 pending]", pool.toString());
        }
        try (TimerScheduler timers = TimerScheduler.builder().name("io").clock(clock).build()) {
            assertEquals("TimerScheduler[io, manual clock]", timers.toString());
            assertEquals("SchedulerExecutor[view of " + timers + "]", timers.asScheduledExecutorService().toString());
            Executor later = timers.delayedExecutor(Duration.ofMillis(1_500), timers.asScheduledExecutorService());
            assertEquals("delayedExecutor[1.5 s, TimerScheduler[io, manual clock]]", later.toString());
        }
    }

    @Test
    void lateness_ofNoneOneAndMany_hasUnits() {
        try (TimerScheduler timers = TimerScheduler.builder().clock(clock).build()) {
            assertEquals("no firings", timers.stats().lateness().toString());
            timers.after(Duration.ZERO, () -> {});
            clock.advance(Duration.ZERO);
            assertEquals("1 firing: p50 0 ms, p99 0 ms, max 0 ms", timers.stats().lateness().toString());
            timers.after(Duration.ZERO, () -> {});
            clock.advance(Duration.ZERO);
            String stats = timers.stats().toString();
            assertTrue(stats.startsWith("timers: armed 2, fired 2, "), stats);
            assertTrue(stats.contains(", 2 firings: p50 0 ms, p99 0 ms, max 0 ms"), stats);
        }
    }

    @Test
    void clockAndListeners_sayWhatTheyAre() {
        clock.advance(Duration.ofMillis(1_500));
        assertEquals("ManualClock[at 1.5 s]", clock.toString());
        assertEquals("NanoClock.system()", NanoClock.system().toString());
        TimerListener log = TimerListener.logging();
        assertEquals("TimerListener.logging()", log.toString());
        assertEquals("TimerListener.logging() and then " + log, log.andThen(log).toString());
    }
}
