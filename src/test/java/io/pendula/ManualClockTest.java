package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Fixtures.ThrownListener;
import io.pendula.internal.engine.Stepper;
import io.pendula.internal.queue.TimerQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ManualClockTest {
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).build();
    private final List<String> log = new ArrayList<>();

    private static Duration ns(long nanos) {
        return Duration.ofNanos(nanos);
    }

    private Timer after(long nanos, String name) {
        return timers.after(ns(nanos), () -> log.add(name + "@" + clock.nanoTime()));
    }

    @Test
    void nanoTime_new_startsAtZeroOrAsTold() {
        assertEquals(0, clock.nanoTime());
        assertEquals(-7, new ManualClock(-7).nanoTime());
    }

    @Test
    void advance_severalDue_runsThemByDeadlineAndShowsIt() {
        after(30, "c");
        after(10, "a");
        after(20, "b");
        after(31, "late");
        assertEquals(3, clock.advance(ns(30)));
        assertEquals(List.of("a@10", "b@20", "c@30"), log);
        assertEquals(30, clock.nanoTime());
    }

    @Test
    void advance_equalDeadlines_runInArmingOrder() {
        for (int i = 0; i < 100; i++) {
            after(10, "t" + i);
        }
        clock.advance(ns(10));
        for (int i = 0; i < 100; i++) {
            assertEquals("t" + i + "@10", log.get(i));
        }
    }

    /** Whichever way a reset reaches the deadline, it counts as an arming of that moment. */
    @Test
    void advance_equalDeadlinesAfterResets_runInTheOrderOfTheResets() {
        Timer putOff = after(5, "putOff");
        Timer broughtForward = after(50, "broughtForward");
        Timer same = after(10, "same");
        Timer stopped = after(10, "stopped");
        Timer there = after(10, "there");
        after(10, "first");
        stopped.stop();
        putOff.reset(ns(10));
        after(10, "second");
        broughtForward.reset(ns(10));
        same.reset(ns(10));
        stopped.reset(ns(10));
        there.reset(ns(3));
        there.reset(ns(10));
        after(10, "last");
        clock.advance(ns(10));
        assertEquals(List.of("first@10", "putOff@10", "second@10", "broughtForward@10", "same@10", "stopped@10",
                "there@10", "last@10"), log);
    }

    @Test
    void advance_callbackArmsDueTimers_runsThemToo() {
        timers.after(ns(10), () -> {
            log.add("outer@" + clock.nanoTime());
            after(0, "now");
            after(5, "soon");
            after(6, "late");
        });
        assertEquals(3, clock.advance(ns(15)));
        assertEquals(List.of("outer@10", "now@10", "soon@15"), log);
        assertEquals(1, timers.pending());
    }

    @Test
    void advance_armingAtOnce_neverRunsInsideTheArmingCall() {
        timers.after(ns(1), () -> {
            after(0, "inner");
            log.add("outer");
        });
        clock.advance(ns(1));
        assertEquals(List.of("outer", "inner@1"), log);
    }

    @Test
    void advance_zero_runsWhatIsDue() {
        after(0, "zero");
        after(-5, "past");
        after(1, "later");
        assertEquals(List.of(), log);
        assertEquals(2, clock.advance(Duration.ZERO));
        assertEquals(List.of("zero@0", "past@0"), log);
        assertEquals(0, clock.advance(Duration.ZERO));
    }

    @Test
    void advance_negative_isRejected() {
        after(0, "due");
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> clock.advance(ns(-1)));
        assertEquals("duration must not be negative, but is PT-0.000000001S", e.getMessage());
        assertEquals(0, clock.nanoTime());
        assertEquals(List.of(), log);
    }

    @Test
    void advance_null_isRejected() {
        NullPointerException e = assertThrows(NullPointerException.class, () -> clock.advance(null));
        assertEquals("duration must not be null", e.getMessage());
    }

    @Test
    void advance_byACallback_isRejectedAndAdvancingGoesOn() {
        AtomicReference<Throwable> nested = new AtomicReference<>();
        timers.after(ns(1), () -> nested.set(
                assertThrows(IllegalStateException.class, () -> clock.advance(ns(1)))));
        after(2, "next");
        assertEquals(2, clock.advance(ns(5)));
        assertTrue(nested.get().getMessage().contains("callbacks"), nested.get().getMessage());
        assertEquals(List.of("next@2"), log);
        assertEquals(0, clock.advance(ns(1)));
    }

    @Test
    void advance_whileAnotherThreadAdvances_isRejected() throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        timers.after(ns(1), () -> {
            inside.countDown();
            try {
                Fixtures.await(leave);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        Thread other = new Thread(() -> clock.advance(ns(1)), "the other one");
        other.start();
        Fixtures.await(inside);
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> clock.advance(ns(1)));
        assertTrue(e.getMessage().endsWith("by the other one"), e.getMessage());
        leave.countDown();
        Fixtures.join(other);
        assertEquals(1, clock.nanoTime());
    }

    /** A scheduler without an engine stands for any Error while the clock looks at its schedulers. */
    @Test
    void advance_failsBeforeAnyCallback_theNextOneIsNotRejected() {
        clock.attach(new Stepper(null));
        for (int i = 0; i < 2; i++) { // the second would be told that the clock is being advanced already
            assertThrows(NullPointerException.class, () -> clock.advance(ns(1)));
        }
    }

    /** A callback leaves its interrupt flag set, and what gives that back throws. */
    @Test
    void advance_threadCannotBeInterrupted_theNextOneIsNotRejected() throws Exception {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        List<Long> ran = new ArrayList<>();
        Thread t = new LifeFixtures.Uninterruptible(() -> {
            thrown.set(assertThrows(SecurityException.class, () -> clock.advance(ns(1))));
            ran.add(clock.advance(ns(1)));
        }, 1);
        timers.after(ns(1), t::interrupt);
        timers.after(ns(2), () -> log.add("next"));
        t.start();
        Fixtures.join(t);
        assertEquals("meant", thrown.get().getMessage());
        assertEquals(List.of(1L), ran);
        assertEquals(List.of("next"), log);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE, Long.MAX_VALUE - 15, Long.MIN_VALUE, -15})
    void advance_acrossTheWrap_keepsTheOrder(long start) {
        ManualClock wrapping = new ManualClock(start);
        TimerScheduler s = TimerScheduler.builder().clock(wrapping).build();
        List<Long> ran = new ArrayList<>();
        for (long delay : new long[] {30, 10, 20}) {
            s.after(ns(delay), () -> ran.add(wrapping.nanoTime() - start));
        }
        assertEquals(0, wrapping.advance(ns(9)));
        assertEquals(3, wrapping.advance(ns(40)));
        assertEquals(List.of(10L, 20L, 30L), ran);
        assertEquals(start + 49, wrapping.nanoTime());
    }

    @Test
    void advance_severalSchedulers_interleavesThemByDeadline() {
        TimerScheduler second = TimerScheduler.builder().clock(clock).build();
        second.after(ns(10), () -> log.add("second"));
        after(10, "first");
        second.after(ns(5), () -> {
            log.add("early");
            after(1, "cross");
        });
        assertEquals(4, clock.advance(ns(10)));
        assertEquals(List.of("early", "cross@6", "first@10", "second"), log);
    }

    @Test
    void advance_callbackBuildsAScheduler_runsItsTimersToo() {
        timers.after(ns(1), () -> {
            TimerScheduler inner = TimerScheduler.builder().clock(clock).build();
            inner.after(ns(2), () -> {
                log.add("inner@" + clock.nanoTime());
                inner.close();
            });
            inner.after(ns(3), () -> log.add("closed"));
        });
        after(3, "same instant");
        after(4, "later");
        assertEquals(4, clock.advance(ns(10)));
        assertEquals(List.of("same instant@3", "inner@3", "later@4"), log);
        assertEquals(0, clock.advance(ns(10)));
    }

    @Test
    void advance_schedulerClosed_runsTheOthers() {
        TimerScheduler second = TimerScheduler.builder().clock(clock).build();
        second.after(ns(10), () -> log.add("closed"));
        after(5, "open");
        second.close();
        assertEquals(1, clock.advance(ns(20)));
        assertEquals(List.of("open@5"), log);
    }

    @Test
    void advance_callbackClosesTheScheduler_endsThere() {
        timers.after(ns(1), timers::close);
        after(1, "dropped");
        assertEquals(1, clock.advance(ns(5)));
        assertEquals(List.of(), log);
        assertEquals(5, clock.nanoTime());
    }

    @Test
    void advance_callbackThrows_listenerHearsAndTheOthersRun() {
        ThrownListener listener = new ThrownListener();
        TimerScheduler s = TimerScheduler.builder().clock(clock).listener(listener).build();
        RuntimeException thrown = new RuntimeException("expected");
        Error error = new AssertionError("expected too");
        s.after(ns(1), () -> {
            throw thrown;
        });
        s.after(ns(2), () -> {
            throw error;
        });
        s.after(ns(3), () -> log.add("ran"));
        assertEquals(3, clock.advance(ns(3)));
        assertEquals(List.of("ran"), log);
        assertEquals(List.of(thrown, error), listener.thrown);
    }

    @Test
    void advance_anything_startsNoThread() {
        TimerScheduler s = TimerScheduler.builder().name("threadless").clock(clock).workers(1).build();
        AtomicReference<Thread> ranOn = new AtomicReference<>();
        s.after(ns(1), () -> ranOn.set(Thread.currentThread()));
        clock.advance(ns(1));
        assertSame(Thread.currentThread(), ranOn.get());
        assertFalse(Thread.getAllStackTraces().keySet().stream()
                .anyMatch(t -> t.getName().startsWith("pendula-threadless")));
    }

    @Test
    void advance_asFarAsItGoes_leavesTheNeverTimer() {
        Timer never = timers.after(Long.MAX_VALUE, TimeUnit.DAYS, () -> log.add("never"));
        Timer distant = timers.after(Duration.ofDays(18 * 365), () -> log.add("distant"));
        assertEquals(1, clock.advance(Duration.ofNanos(timers.engine.timeline.left())));
        assertEquals(List.of("distant"), log);
        assertTrue(never.isPending());
        assertFalse(distant.isPending());
        assertEquals(1, timers.pending());
    }

    @Test
    void advance_twentyYearsDayByDay_timersGoOn() {
        int[] ticks = {0};
        int[] fired = {0};
        timers.every(Duration.ofDays(1), () -> ticks[0]++);
        Timer idle = timers.after(Duration.ofDays(1), () -> fired[0]++);
        for (int i = 0; i < 20 * 365; i++) {
            clock.advance(Duration.ofDays(1));
        }
        timers.after(Duration.ofSeconds(1), () -> fired[0]++);
        idle.reset(Duration.ofSeconds(1));
        clock.advance(Duration.ofSeconds(2));
        assertEquals(20 * 365, ticks[0]);
        assertEquals(3, fired[0]);
    }

    /** A scheduler that had gone on for longer than it can count would run nothing any more. */
    @Test
    void advance_fartherThanASchedulerCanCount_isRefusedAndTheClockStandsStill() {
        after(5, "a");
        clock.advance(Duration.ofDays(30 * 365));
        long before = clock.nanoTime();
        after(5, "b");
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> clock.advance(Duration.ofDays(7 * 365)));
        assertTrue(e.getMessage().startsWith("the clock cannot be advanced by 61320 h: scheduler 'timers' can count 36 "
                + "years of it, of which "), e::getMessage);
        assertEquals(before, clock.nanoTime());
        assertEquals(List.of("a@5"), log);
        try (TimerScheduler younger = TimerScheduler.builder().clock(clock).build()) {
            timers.close();
            younger.after(Duration.ofDays(6 * 365 + 300), () -> log.add("younger"));
            assertEquals(1, clock.advance(Duration.ofDays(7 * 365)));
        }
    }

    @Test
    void advance_hugePeriod_harmsNoOtherTimer() {
        timers.every(Duration.ofSeconds(Long.MAX_VALUE), () -> log.add("tick"));
        after(5, "other");
        assertEquals(1, clock.advance(Duration.ofDays(10_000)));
        assertEquals(List.of("other@5"), log);
    }

    // ---- closing while the clock is advanced ----

    /** Advances the clock by a thread whose callback waits until it is let go; returns once it is there. */
    private Thread advanceInto(CountDownLatch leave, Runnable last) throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(1);
        timers.after(ns(1), () -> {
            inside.countDown();
            try {
                Fixtures.await(leave);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            last.run();
            log.add("end of the callback");
        });
        Thread advancing = new Thread(() -> clock.advance(ns(1)), "advancing");
        advancing.start();
        Fixtures.await(inside);
        return advancing;
    }

    private static void assertWaits(Thread t) {
        Fixtures.awaitTrue(() -> Fixtures.isWaiting(t) || !t.isAlive());
        assertTrue(t.isAlive(), () -> t.getName() + " did not wait for the callback");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void close_whileAnotherThreadAdvances_waitsForTheCallback(boolean shutdownFirst) throws InterruptedException {
        CountDownLatch leave = new CountDownLatch(1);
        Thread advancing = advanceInto(leave, () -> {});
        Thread closing = new Thread(() -> {
            if (shutdownFirst) {
                timers.shutdownNow();
            }
            timers.close();
            log.add("closed");
        }, "closing");
        closing.start();
        assertWaits(closing);
        leave.countDown();
        Fixtures.join(closing);
        Fixtures.join(advancing);
        assertEquals(List.of("end of the callback", "closed"), log);
    }

    @Test
    void close_byTheCallbackAndByAnotherThread_neitherWaitsForTheOther() throws InterruptedException {
        CountDownLatch leave = new CountDownLatch(1);
        Thread advancing = advanceInto(leave, timers::close);
        Thread closing = new Thread(timers::close, "closing");
        closing.start();
        assertWaits(closing);
        leave.countDown();
        Fixtures.join(closing);
        Fixtures.join(advancing);
    }

    @Test
    void close_manyTimesAtTheEndOfACallback_alwaysReturns() throws InterruptedException {
        for (int i = 0; i < Scale.of(500, 2_000); i++) {
            ManualClock ticking = new ManualClock();
            TimerScheduler s = TimerScheduler.builder().clock(ticking).build();
            CountDownLatch inside = new CountDownLatch(1);
            boolean[] ended = new boolean[1];
            s.after(ns(1), () -> {
                inside.countDown();
                ended[0] = true;
            });
            LifeFixtures.inParallel(2, n -> {
                if (n == 0) {
                    ticking.advance(ns(1));
                } else {
                    Fixtures.await(inside);
                    s.close();
                    assertTrue(ended[0]);
                }
            });
        }
    }

    // ---- an instant without end ----

    /** In the short form the clock gives up earlier. */
    private void bound(int runs) {
        assertEquals(1_000_000, clock.runsAtAnInstant);
        clock.runsAtAnInstant = Scale.of(runs, ManualClock.RUNS_AT_AN_INSTANT);
    }

    @Test
    void advance_callbackArmsItselfForNow_throwsAndTheClockCanBeUsed() {
        bound(50_000);
        Timer[] endless = new Timer[1];
        Runnable again = new Runnable() {
            @Override
            public void run() {
                endless[0].reset(Duration.ZERO);
            }

            @Override
            public String toString() {
                return "<the one that does not end>";
            }
        };
        endless[0] = timers.after(ns(10), again);
        after(20, "later");
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> clock.advance(ns(30)));
        assertTrue(e.getMessage().contains("beyond 10 ns"), e.getMessage());
        assertTrue(e.getMessage().contains(", due in 0 ms, scheduler timers], task <the one that does not end>"), e.getMessage());
        assertEquals(10, clock.nanoTime());
        assertEquals(2, timers.pending());
        assertTrue(endless[0].stop());
        assertEquals(1, clock.advance(ns(20)));
        assertEquals(List.of("later@20"), log);
        assertEquals(30, clock.nanoTime());
    }

    @Test
    void advance_executorTaskSubmitsItselfForNow_throws() {
        bound(50_000);
        try (SchedulerExecutor view = timers.asScheduledExecutorService()) {
            Runnable[] again = new Runnable[1];
            again[0] = () -> view.execute(again[0]);
            view.execute(again[0]);
            assertThrows(IllegalStateException.class, () -> clock.advance(Duration.ZERO));
            view.shutdownNow();
            assertEquals(0, clock.advance(Duration.ZERO));
        }
    }

    @Test
    void advance_moreTimersAtOneInstantThanTheBound_runsThemAll() {
        bound(50_000);
        int count = clock.runsAtAnInstant * 6 / 5;
        int[] ran = new int[1];
        for (int i = 0; i < count; i++) {
            timers.after(10, TimeUnit.NANOSECONDS, () -> ran[0]++);
        }
        assertEquals(count, clock.advance(ns(10)));
        assertEquals(count, ran[0]);
    }

    @Test
    void advance_fastTickerForLong_isNotTakenForEndless() {
        bound(50_000);
        int count = 2 * clock.runsAtAnInstant;
        timers.every(ns(1), () -> {});
        assertEquals(count, clock.advance(ns(count)));
    }

    /** A program with timers, tickers, stops and resets that depend on what ran before. */
    private static List<String> program(long seed) {
        Random rnd = new Random(seed);
        ManualClock clock = new ManualClock(rnd.nextLong());
        long start = clock.nanoTime();
        TimerScheduler s = TimerScheduler.builder().clock(clock).build();
        List<String> log = new ArrayList<>();
        List<Timer> armed = new ArrayList<>();
        s.every(ns(7), () -> log.add("tick@" + (clock.nanoTime() - start)));
        for (int i = 0; i < 30; i++) {
            int id = i;
            armed.add(s.after(ns(rnd.nextInt(40)), () -> {
                log.add(id + "@" + (clock.nanoTime() - start));
                Timer other = armed.get(rnd.nextInt(armed.size()));
                log.add(rnd.nextBoolean() ? "stop " + other.stop() : "reset " + other.reset(ns(rnd.nextInt(20))));
            }));
        }
        clock.advance(ns(100));
        return log;
    }

    @Test
    void advance_sameCalls_giveTheSameResult() {
        List<String> first = program(1);
        assertTrue(first.size() > 40);
        for (int i = 0; i < 5; i++) {
            assertEquals(first, program(1));
        }
        assertEquals(200, LongStream.range(0, 200).mapToObj(ManualClockTest::program).distinct().count());
    }

    // ---- to the next deadline ----

    @Test
    void advanceToNext_runsWhatIsDueThereAndNoMore() {
        ManualClock c = new ManualClock(5);
        try (TimerScheduler a = TimerScheduler.builder().clock(c).build();
                TimerScheduler b = TimerScheduler.builder().clock(c).build()) {
            List<String> ran = new ArrayList<>();
            a.after(Duration.ofMillis(2), () -> ran.add("a2"));
            b.after(Duration.ofMillis(2), () -> ran.add("b2"));
            b.after(Duration.ofMillis(7), () -> ran.add("b7"));
            assertEquals(3, c.pending());
            assertEquals(Duration.ofMillis(2), c.nextIn().orElseThrow());
            assertEquals(2, c.advanceToNext());
            assertEquals(List.of("a2", "b2"), ran);
            assertEquals(2_000_005, c.nanoTime());
            assertEquals(Duration.ofMillis(5), c.nextIn().orElseThrow());
            assertEquals(1, c.pending());
            assertEquals(1, c.advanceToNext());
            assertTrue(c.nextIn().isEmpty());
            assertEquals(0, c.advanceToNext());
            assertEquals(7_000_005, c.nanoTime());
        }
        assertEquals(0, c.pending());
    }

    @Test
    void advanceToNext_callbackArmsMore_stopsAtItsInstant() {
        ManualClock c = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(c).build()) {
            Ticker t = s.every(Duration.ofMillis(10), () -> s.after(Duration.ZERO, () -> {}));
            assertEquals(2, c.advanceToNext(), "the tick, and what it arms for the same instant");
            assertEquals(10_000_000, c.nanoTime());
            t.stop();
            s.after(Duration.ofDays(40_000), () -> {});
            assertTrue(c.nextIn().isEmpty(), "it will never be due");
            assertEquals(1, c.pending());
        }
    }

    @Test
    void nextIn_stoppedAndPutOff_isThatOfWhatIsArmed() {
        ManualClock c = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(c).build()) {
            Timer t = s.after(Duration.ofMillis(1), () -> {});
            s.after(Duration.ofMillis(2), () -> {}).stop();
            t.reset(Duration.ofMillis(9));
            assertEquals(Duration.ofMillis(9), c.nextIn().orElseThrow());
            t.reset(Duration.ZERO);
            assertEquals(Duration.ZERO, c.nextIn().orElseThrow());
            assertEquals(1, c.advanceToNext());
        }
    }

    /** Another thread stops the only timer while the clock is asked for the next deadline. */
    @Test
    void nextIn_timerIsStoppedBetweenTwoLooks_isEmptyOrItsTime() {
        boolean isPassed = true;
        for (int looks = 1; isPassed; looks++) {
            ManualClock clock = new ManualClock();
            TimerScheduler s = TimerScheduler.builder().clock(clock).build();
            TimerQueue q = s.engine.queues[0];
            Fixtures.SteppedTimer t = new Fixtures.SteppedTimer(q);
            q.arm(t, q.timeline.deadlineIn(1_000));
            t.stepInAfter(looks, () -> q.stop(t));
            Optional<Duration> next = clock.nextIn();
            isPassed = t.isPassed();
            assertTrue(isPassed || looks > 1, "it is not looked at");
            assertTrue(next.isEmpty() || next.get().toNanos() == 1_000, next::toString);
        }
    }
}
