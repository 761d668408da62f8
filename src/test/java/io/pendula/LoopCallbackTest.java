package io.pendula;

import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static io.pendula.LoopFixtures.assertAccount;
import static io.pendula.LoopFixtures.ns;
import static io.pendula.LoopFixtures.runAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What callbacks of a loop may do to timers of that loop, and to the loop's thread. */
@Timeout(60)
class LoopCallbackTest {
    private static final int MANY = 10_000;

    private final LifeFixtures.Heard heard = new LifeFixtures.Heard();
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).workers(0).listener(heard).build();
    private final TimerLoop loop = timers.attach(NOTHING);
    private final List<String> log = new ArrayList<>();
    private final AtomicInteger runs = new AtomicInteger();

    /** An assertion that fails in a callback ends there, and in what the listener hears. */
    @AfterEach
    void close() {
        loop.close();
        assertEquals(0, timers.pending());
        timers.close();
        assertEquals(List.of(), thrown());
    }

    /** What callbacks have thrown since this was last called. */
    private List<LifeFixtures.Heard.News> thrown() {
        List<LifeFixtures.Heard.News> thrown = List.copyOf(heard.threw);
        heard.threw.clear();
        return thrown;
    }

    private Timer after(long nanos, String name) {
        return loop.after(ns(nanos), () -> log.add(name));
    }

    /** Timers that are not due, so that what is filed is more than what is due. */
    private void armFar(int count) {
        for (int i = 0; i < count; i++) {
            loop.after(HOUR, NOTHING);
        }
    }

    // ---- what a callback arms ----

    @ParameterizedTest
    @ValueSource(ints = {0, 1, MANY})
    void arm_zeroDelayInCallback_waitsForTheNextCall(int far) {
        armFar(far);
        loop.after(NOW, () -> {
            after(0, "inner");
            log.add("outer");
        });
        assertEquals(1, loop.runDue());
        assertEquals(List.of("outer"), log);
        assertEquals(0, loop.nanosUntilNext());
        assertEquals(1, loop.runDue());
        assertEquals(List.of("outer", "inner"), log);
    }

    @Test
    void arm_manyWithZeroDelayInCallback_allWaitForTheNextCall() {
        armFar(MANY);
        loop.after(NOW, () -> {
            for (int i = 0; i < MANY; i++) {
                loop.after(NOW, runs::incrementAndGet);
            }
        });
        assertEquals(1, loop.runDue());
        assertEquals(0, runs.get());
        assertEquals(MANY, loop.runDue());
        assertEquals(MANY, runs.get());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, MANY})
    void reset_zeroDelayInCallback_waitsForTheNextCall(int far) {
        armFar(far);
        Timer stopped = after(5, "stopped");
        Timer other = after(5, "other");
        assertTrue(stopped.stop());
        Timer[] self = new Timer[1];
        self[0] = loop.after(NOW, () -> {
            log.add("self");
            if (log.size() == 1) {
                assertTrue(other.reset(NOW));
                assertFalse(stopped.reset(NOW));
                assertFalse(self[0].reset(NOW));
            }
        });
        assertEquals(1, loop.runDue());
        assertEquals(List.of("self"), log);
        assertEquals(3, loop.runDue());
        assertEquals(List.of("self", "other", "stopped", "self"), log);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, MANY})
    void reset_manyThatArmThemselvesAgain_runOnceInEachCall(int far) {
        armFar(far);
        List<Timer> all = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            int n = i;
            all.add(loop.after(NOW, () -> {
                runs.incrementAndGet();
                all.get(n).reset(NOW);
            }));
        }
        for (int call = 1; call <= 3; call++) {
            assertEquals(MANY, loop.runDue());
            assertEquals(call * MANY, runs.get());
        }
        assertEquals(MANY + far, timers.pending());
    }

    /** Whoever reads the statistics files what is in the inbox; it is not for the present call all the same. */
    @Test
    void arm_zeroDelayInCallbackThatReadsStatistics_waitsForTheNextCall() {
        armFar(10);
        loop.after(NOW, () -> {
            after(0, "inner");
            assertEquals(11, timers.stats().pending());
            log.add("outer");
        });
        assertEquals(1, loop.runDue());
        assertEquals(List.of("outer"), log);
        assertEquals(1, loop.runDue());
    }

    /** The dead one in front is due for the present call, and what comes behind it must not slip in. */
    @ParameterizedTest
    @ValueSource(ints = {0, 5, 10})
    void arm_zeroDelayBehindAStoppedOne_waitsForTheNextCall(int stoppedAt) {
        armFar(10);
        Timer[] victim = new Timer[1];
        loop.after(NOW, () -> {
            assertTrue(victim[0].stop());
            after(0, "inner");
            timers.stats(); // files it
        });
        victim[0] = after(stoppedAt, "stopped");
        clock.advance(ns(10));
        assertEquals(1, loop.runDue());
        assertEquals(0, loop.nanosUntilNext());
        assertEquals(1, loop.runDue());
        assertEquals(List.of("inner"), log);
    }

    @Test
    void arm_zeroDelayBehindOneThatWasPutOff_waitsForTheNextCall() {
        long[] time = {1};
        try (TimerScheduler s = TimerScheduler.builder().clock(() -> time[0]).workers(0).build();
                TimerLoop l = s.attach(NOTHING)) {
            Timer[] victim = new Timer[1];
            l.after(NOW, () -> {
                assertTrue(victim[0].reset(ns(100)));
                l.after(NOW, () -> log.add("inner"));
                s.stats();
            });
            victim[0] = l.after(ns(5), () -> log.add("put off"));
            time[0] += 10;
            assertEquals(1, l.runDue());
            assertEquals(1, l.runDue());
            assertEquals(List.of("inner"), log);
            time[0] += 100;
            assertEquals(1, l.runDue());
        }
    }

    @Test
    void arm_laterInCallback_isCountedIn() {
        loop.after(NOW, () -> after(30, "inner"));
        assertEquals(1, loop.runDue());
        assertEquals(30, loop.nanosUntilNext());
        clock.advance(ns(30));
        assertEquals(1, loop.runDue());
        assertEquals(List.of("inner"), log);
    }

    @Test
    void runDue_fallsDueDuringCallback_isNotLost() {
        loop.after(NOW, () -> {
            log.add("slow");
            clock.advance(ns(20));
        });
        after(10, "due meanwhile");
        int ran = loop.runDue();
        ran += loop.runDue();
        assertEquals(2, ran);
        assertEquals(List.of("slow", "due meanwhile"), log);
    }

    // ---- stop, reset and cancel of others ----

    @Test
    void stop_dueTimerInEarlierCallback_doesNotRun() {
        Timer[] victims = new Timer[3];
        loop.after(NOW, () -> {
            assertTrue(victims[0].stop());
            assertTrue(victims[1].cancel());
            assertTrue(victims[2].reset(ns(7)));
        });
        victims[0] = after(0, "stopped");
        victims[1] = after(0, "cancelled");
        victims[2] = after(0, "put off");
        after(0, "last");
        assertEquals(2, loop.runDue());
        assertEquals(List.of("last"), log);
        assertEquals(7, loop.nanosUntilNext());
        clock.advance(ns(7));
        assertEquals(1, loop.runDue());
        assertEquals(List.of("last", "put off"), log);
        assertAccount(timers, 6, 3, 2, 1, 0);
    }

    @Test
    void stop_allDueTimersBetweenTheCalls_noneRuns() {
        Timer a = after(10, "a");
        Timer b = after(10, "b");
        Timer c = after(10, "c");
        clock.advance(ns(10));
        assertEquals(0, loop.nanosUntilNext());
        assertTrue(a.stop());
        assertTrue(b.cancel());
        assertTrue(c.reset(ns(5)));
        assertEquals(0, loop.runDue());
        assertEquals(5, loop.nanosUntilNext());
        assertEquals(List.of(), log);
    }

    @Test
    void stop_earlierTimerInLaterCallback_isTooLate() {
        Timer first = after(0, "first");
        loop.after(NOW, () -> {
            assertFalse(first.stop());
            assertFalse(first.isPending());
            log.add("later");
        });
        assertEquals(2, loop.runDue());
        assertEquals(List.of("first", "later"), log);
    }

    @Test
    void stop_ownRearmingInCallback_takesItBack() {
        Timer[] self = new Timer[1];
        self[0] = loop.after(NOW, () -> {
            assertFalse(self[0].stop());
            assertFalse(self[0].reset(NOW));
            assertTrue(self[0].isPending());
            assertTrue(self[0].stop());
            runs.incrementAndGet();
        });
        assertEquals(1, runAll(loop));
        assertEquals(1, runs.get());
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
    }

    @Test
    void cancelAndAwait_inOwnCallback_doesNotWait() {
        Timer[] self = new Timer[1];
        self[0] = loop.after(NOW, () -> {
            try {
                log.add("" + self[0].cancelAndAwait(HOUR));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        assertEquals(1, loop.runDue());
        assertEquals(List.of("false"), log);
    }

    // ---- callbacks that throw ----

    @Test
    void runDue_callbacksThrow_othersRunAndTheListenerHears() {
        IllegalStateException exception = new IllegalStateException("a");
        AssertionError error = new AssertionError("b");
        Timer a = loop.after(ns(1), () -> {
            throw exception;
        });
        Timer b = loop.after(ns(2), () -> {
            throw error;
        });
        after(3, "c");
        clock.advance(ns(10));
        assertEquals(3, loop.runDue());
        assertEquals(List.of("c"), log);
        assertEquals(List.of(new LifeFixtures.Heard.News(a, 9, exception), new LifeFixtures.Heard.News(b, 8, error)),
                thrown());
        assertFalse(a.reset(ns(5)));
        clock.advance(ns(5));
        assertEquals(1, loop.runDue());
        assertEquals(List.of(new LifeFixtures.Heard.News(a, 0, exception)), thrown());
    }

    @Test
    void runDue_callbackThrowsWithoutListener_uncaughtHandlerOfTheLoopsThreadHears() {
        Thread me = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = me.getUncaughtExceptionHandler();
        List<Throwable> uncaught = new ArrayList<>();
        StackOverflowError thrown = new StackOverflowError("by hand");
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).build();
                TimerLoop l = s.attach(NOTHING)) {
            me.setUncaughtExceptionHandler((t, e) -> {
                assertSame(me, t);
                uncaught.add(e);
            });
            l.after(NOW, () -> {
                throw thrown;
            });
            l.after(NOW, () -> log.add("next"));
            assertEquals(2, l.runDue());
            assertEquals(List.of(thrown), uncaught);
            assertEquals(List.of("next"), log);
        } finally {
            me.setUncaughtExceptionHandler(before);
        }
    }

    @Test
    void runDue_callbackLeavesTheInterruptFlag_itIsTheLoopsOwn() {
        loop.after(NOW, () -> Thread.currentThread().interrupt());
        after(0, "next");
        assertEquals(2, loop.runDue());
        assertTrue(Thread.interrupted(), "whether it ends the loop is the application's decision");
        assertEquals(List.of("next"), log);
    }

    @Test
    void runDue_slowCallback_isHeardOf() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).listener(heard)
                .slowCallback(ns(10)).build(); TimerLoop l = s.attach(NOTHING)) {
            Timer slow = l.after(NOW, () -> clock.advance(ns(11)));
            l.after(NOW, () -> clock.advance(ns(10)));
            while (runs.get() < 2) {
                runs.addAndGet(l.runDue());
            }
            assertEquals(List.of(new LifeFixtures.Heard.News(slow, 0, 11L)), List.copyOf(heard.slow));
        }
    }

    // ---- tickers ----

    /** Deadlines 10 ms, 20 ms and so on; the loop polls at 35 ms, then whenever it is told to. */
    @ParameterizedTest
    @CsvSource({"SKIP, 40 50", "BURST, 35 35 40 50", "DELAY, 45 55"})
    void ticker_missedTicks_followsItsPolicy(MissedTicks policy, String next) {
        List<Long> at = new ArrayList<>();
        Ticker ticker = loop.every(Duration.ofMillis(10), policy, () -> at.add(clock.nanoTime() / 1_000_000));
        clock.advance(Duration.ofMillis(35));
        assertEquals(1, loop.runDue(), "one tick in each call, as the next one is armed by the run");
        while (at.get(at.size() - 1) < 50) {
            clock.advance(ns(loop.nanosUntilNext()));
            assertEquals(1, loop.runDue());
        }
        assertEquals("35 " + next, String.join(" ", at.stream().map(String::valueOf).toList()));
        assertEquals(policy == MissedTicks.BURST ? 0 : 2, ticker.missed());
        assertTrue(ticker.stop());
    }

    @Test
    void ticker_stoppedInItsCallback_ticksNoMore() {
        Ticker[] ticker = new Ticker[1];
        ticker[0] = loop.every(ns(10), () -> {
            if (runs.incrementAndGet() == 3) {
                assertTrue(ticker[0].stop());
            }
        });
        for (int i = 0; i < 10; i++) {
            clock.advance(ns(10));
            loop.runDue();
        }
        assertEquals(3, runs.get());
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
    }

    @Test
    void ticker_throws_ticksOn() {
        IllegalStateException exception = new IllegalStateException("tick");
        Ticker ticker = loop.every(ns(10), () -> {
            throw exception;
        });
        for (int i = 0; i < 3; i++) {
            clock.advance(ns(10));
            assertEquals(1, loop.runDue());
        }
        LifeFixtures.Heard.News each = new LifeFixtures.Heard.News(ticker, 0, exception);
        assertEquals(List.of(each, each, each), thrown());
        assertTrue(ticker.stop());
    }

    @Test
    void ticker_manyPeriods_tickAtTheirDeadlines() {
        List<Long> at = new ArrayList<>();
        loop.every(ns(7), () -> at.add(clock.nanoTime()));
        for (int i = 0; i < 70; i++) {
            clock.advance(ns(1));
            loop.runDue();
        }
        assertEquals(LongStream.rangeClosed(1, 10).map(n -> 7 * n).boxed().toList(), at);
    }
}
