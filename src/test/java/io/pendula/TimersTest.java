package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is the same on a scheduler, on a loop, and in a group. */
@Timeout(60)
class TimersTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    abstract static class Case {
        final ManualClock clock = new ManualClock();
        final TimerScheduler scheduler = TimerScheduler.builder().name("t").clock(clock).build();
        private final long start = clock.nanoTime();
        private final List<String> ran = new ArrayList<>();
        private Timers timers;

        @BeforeEach
        void make() {
            timers = make(scheduler);
        }

        @AfterEach
        void close() {
            scheduler.close();
        }

        abstract Timers make(TimerScheduler of);

        abstract void advance(Duration time);

        private Runnable run(String what) {
            return () -> ran.add(what + " at " + Duration.ofNanos(clock.nanoTime() - start).toMillis());
        }

        private void assertRan(String... what) {
            assertEquals(List.of(what), ran);
        }

        @Test
        void timers_ofEachForm_runOnceWhenTheyAreDue() {
            timers.after(SECOND, run("a"));
            timers.after(1_500, TimeUnit.MILLISECONDS, run("b"));
            timers.at(timers.now() + SECOND.toNanos() * 2, run("c"));
            advance(SECOND);
            advance(SECOND.dividedBy(2));
            advance(SECOND.dividedBy(2));
            assertRan("a at 1000", "b at 1500", "c at 2000");
        }

        @Test
        void timer_notArmed_countsNowhereAndRunsAfterItsFirstReset() {
            Timer a = timers.timer(run("a"));
            advance(SECOND);
            assertEquals(0, scheduler.pending());
            assertFalse(a.isPending());
            assertEquals(Duration.ZERO, a.remaining());
            assertFalse(a.stop());
            assertFalse(a.reset(SECOND));
            assertEquals(1, scheduler.pending());
            assertTrue(a.isPending());
            advance(SECOND);
            assertRan("a at 2000");
        }

        @Test
        void timer_notArmedAndCancelled_canNotBeReset() throws InterruptedException {
            Timer a = timers.timer(run("a"));
            assertTrue(a.cancelAndAwait(SECOND));
            assertFalse(a.cancel());
            assertThrows(IllegalStateException.class, () -> a.reset(SECOND));
            assertNull(a.task());
        }

        @Test
        void timer_notArmedWhenAllIsClosed_refusesItsReset() {
            Timer a = timers.timer(run("a"));
            assertEquals(List.of(), scheduler.shutdownNow());
            assertThrows(RejectedExecutionException.class, () -> a.reset(SECOND));
            assertFalse(a.isPending());
        }

        @Test
        void timer_nullTask_isNamed() {
            assertEquals("task must not be null",
                    assertThrows(NullPointerException.class, () -> timers.timer(null)).getMessage());
        }

        @Test
        void tickers_ofEachForm_keepToTheirGrids() {
            timers.every(Duration.ofMillis(400), run("a"));
            timers.every(500, TimeUnit.MILLISECONDS, run("b"));
            timers.every(Duration.ofMillis(600), MissedTicks.DELAY, run("c"));
            timers.every(Duration.ZERO, Duration.ofMillis(700), run("d"));
            timers.every(Duration.ofMillis(100), Duration.ofMillis(800), MissedTicks.BURST, run("e"));
            for (int i = 0; i <= 10; i++) {
                advance(i == 0 ? Duration.ZERO : Duration.ofMillis(100));
            }
            assertRan("d at 0", "e at 100", "a at 400", "b at 500", "c at 600", "d at 700", "a at 800", "e at 900", "b at 1000");
        }

        @Test
        void everyAtRandomPhase_firstTick_comesWithinAPeriod() {
            Ticker ticker = timers.everyAtRandomPhase(SECOND, run("a"));
            assertTrue(ticker.remaining().compareTo(SECOND) < 0);
            advance(SECOND.minusNanos(1));
            assertEquals(1, ran.size());
        }

        @Test
        void orTimeout_notComplete_saysWhoseTimeItWas() {
            CompletableFuture<String> f = timers.orTimeout(new CompletableFuture<>(), SECOND);
            advance(SECOND);
            Throwable e = assertThrows(ExecutionException.class, f::get).getCause();
            assertEquals(TimeoutException.class, e.getClass());
            assertEquals("not completed within 1 s, says " + timers, e.getMessage());
        }

        @Test
        void completeOnTimeout_notComplete_hasTheValue() {
            CompletableFuture<String> f = timers.completeOnTimeout(new CompletableFuture<>(), "late", SECOND);
            advance(SECOND);
            assertEquals("late", f.getNow(null));
        }

        @Test
        void delayedExecutor_aTask_isHandedOverLater() {
            timers.delayedExecutor(SECOND, Runnable::run).execute(run("a"));
            assertRan();
            advance(SECOND);
            assertRan("a at 1000");
        }
    }

    @Nested
    class OfAScheduler extends Case {
        @Override
        Timers make(TimerScheduler of) {
            return of;
        }

        @Override
        void advance(Duration time) {
            clock.advance(time);
        }
    }

    @Nested
    class OfALoop extends Case {
        private TimerLoop loop;

        @Override
        Timers make(TimerScheduler of) {
            loop = of.attach(() -> {});
            return loop;
        }

        @Override
        void advance(Duration time) {
            clock.advance(time);
            loop.runDue();
        }
    }

    @Nested
    class OfAGroup extends Case {
        @Override
        Timers make(TimerScheduler of) {
            return of.group("g");
        }

        @Override
        void advance(Duration time) {
            clock.advance(time);
        }
    }
}
