package io.pendula;

import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static io.pendula.LoopFixtures.assertAccount;
import static io.pendula.LoopFixtures.elsewhere;
import static io.pendula.LoopFixtures.ns;
import static io.pendula.LoopFixtures.runElsewhere;
import static io.pendula.LoopFixtures.settle;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Compactor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How long a loop may wait, and what it runs when: with a manual clock, hence exact. */
@Timeout(60)
class TimerLoopTest {
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).workers(0).build();
    private final TimerLoop loop = timers.attach(NOTHING);
    private final List<String> log = new ArrayList<>();

    private Timer after(long nanos, String name) {
        return loop.after(ns(nanos), () -> log.add(name));
    }

    private List<Timer> arm(int count, Duration delay) {
        return IntStream.range(0, count).mapToObj(i -> loop.after(delay, NOTHING)).toList();
    }

    private void stopAll(List<Timer> all) {
        all.forEach(t -> assertTrue(t.stop()));
    }

    // ---- nanosUntilNext ----

    @Test
    void nanosUntilNext_nothingArmed_isForEver() {
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
        clock.advance(HOUR);
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
        assertEquals(0, loop.runDue());
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
    }

    @Test
    void nanosUntilNext_timeGoesBy_isWhatRemains() {
        after(100, "a");
        assertEquals(100, loop.nanosUntilNext());
        assertEquals(100, loop.nanosUntilNext());
        clock.advance(ns(40));
        assertEquals(60, loop.nanosUntilNext());
        clock.advance(ns(59));
        assertEquals(1, loop.nanosUntilNext());
        assertEquals(0, loop.runDue());
        clock.advance(ns(1));
        assertEquals(0, loop.nanosUntilNext());
        assertEquals(0, loop.nanosUntilNext());
        clock.advance(ns(1_000));
        assertEquals(0, loop.nanosUntilNext());
        assertEquals(1, loop.runDue());
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
    }

    @Test
    void nanosUntilNext_zeroOrNegativeDelay_isZero() {
        Timer zero = after(0, "zero");
        assertEquals(0, loop.nanosUntilNext());
        zero.stop();
        assertEquals(Long.MAX_VALUE, settle(loop));
        after(-5, "past");
        assertEquals(0, loop.nanosUntilNext());
        assertEquals(1, loop.runDue());
    }

    /** A worker divides such a sleep; a loop must not be told to wake up before there is anything to do. */
    @ParameterizedTest
    @ValueSource(longs = {1_000_000_000L, 3_600_000_000_000L, 500_000_000_000_000_000L})
    void nanosUntilNext_farDeadline_isExact(long nanos) {
        after(nanos, "far");
        assertEquals(nanos, loop.nanosUntilNext());
        clock.advance(ns(nanos - 1));
        assertEquals(1, loop.nanosUntilNext());
        clock.advance(ns(1));
        assertEquals(1, loop.runDue());
    }

    @Test
    void nanosUntilNext_never_isForEver() {
        Timer never = loop.after(Long.MAX_VALUE, TimeUnit.DAYS, () -> log.add("never"));
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
        clock.advance(Duration.ofDays(30 * 365));
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
        assertEquals(0, loop.runDue());
        assertTrue(never.stop());
        assertEquals(List.of(), log);
    }

    @Test
    void nanosUntilNext_clockThatWrapsAround_isExact() {
        ManualClock late = new ManualClock(Long.MAX_VALUE - 10);
        try (TimerScheduler s = TimerScheduler.builder().clock(late).workers(0).build();
                TimerLoop l = s.attach(NOTHING)) {
            l.after(ns(100), NOTHING);
            late.advance(ns(30));
            assertEquals(70, l.nanosUntilNext());
            late.advance(ns(70));
            assertEquals(1, l.runDue());
        }
    }

    @Test
    void nanosUntilNext_firstStopped_isThatOfTheNext() {
        Timer first = after(10, "first");
        after(70, "second");
        assertEquals(10, loop.nanosUntilNext());
        assertTrue(first.stop());
        assertEquals(70, loop.nanosUntilNext());
        assertTrue(!first.reset(ns(30)));
        assertEquals(30, loop.nanosUntilNext());
        assertTrue(first.cancel());
        assertEquals(70, loop.nanosUntilNext());
    }

    @Test
    void nanosUntilNext_firstReset_followsIt() {
        Timer t = after(100, "t");
        after(1_000, "other");
        assertEquals(100, loop.nanosUntilNext());
        assertTrue(t.reset(ns(500)));
        assertEquals(500, loop.nanosUntilNext());
        assertTrue(t.reset(ns(20)));
        assertEquals(20, loop.nanosUntilNext());
        assertTrue(t.reset(ns(5_000)));
        assertEquals(1_000, loop.nanosUntilNext());
    }

    @ParameterizedTest
    @ValueSource(ints = {300, 5_000, 60_000})
    void nanosUntilNext_manyDeadInFront_isExactAfterAFewVisits(int dead) {
        arm(4 * dead, HOUR);
        List<Timer> first = arm(dead, ns(10));
        loop.nanosUntilNext(); // files them
        stopAll(first);
        assertEquals(HOUR.toNanos(), settle(loop));
        clock.advance(ns(20));
        assertEquals(HOUR.toNanos() - 20, settle(loop));
    }

    @Test
    void nanosUntilNext_manyPutOff_isExactAfterAFewVisits() {
        List<Timer> all = arm(50_000, ns(10));
        loop.nanosUntilNext();
        all.forEach(t -> assertTrue(t.reset(HOUR)));
        clock.advance(ns(20));
        assertEquals(HOUR.toNanos() - 20, settle(loop));
        assertEquals(50_000, timers.pending());
    }

    @Test
    void nanosUntilNext_mostOfALargeHeapStopped_sweepsItInBoundedVisits() {
        List<Timer> all = new ArrayList<>(arm(200_000, HOUR));
        loop.nanosUntilNext();
        Collections.shuffle(all, new Random(1));
        stopAll(all.subList(0, 190_000));
        assertEquals(HOUR.toNanos(), settle(loop));
        TimerStats stats = timers.stats();
        assertTrue(stats.staleEntries() <= Compactor.STALE_FLOOR + 10_000 / 4, () -> "dead: " + stats.staleEntries());
        assertEquals(10_000, stats.pending());
    }

    /** The answer is either exact, or 0 because of something to tidy up, and that only so many times. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void nanosUntilNext_anyHistory_isNeverWrong(long seed) {
        Random r = new Random(seed);
        List<Timer> all = new ArrayList<>();
        for (int step = 0; step < 1_500; step++) {
            switch (r.nextInt(8)) {
                case 0, 1, 2 -> {
                    for (int n = r.nextInt(20); n >= 0; n--) {
                        all.add(loop.after(1 + r.nextInt(1_000), TimeUnit.NANOSECONDS, NOTHING));
                    }
                }
                case 3 -> {
                    for (int n = Math.min(all.size(), r.nextInt(20)); n > 0; n--) {
                        all.get(r.nextInt(all.size())).stop();
                    }
                }
                case 4, 5 -> {
                    for (int n = Math.min(all.size(), r.nextInt(20)); n > 0; n--) {
                        all.get(r.nextInt(all.size())).reset(1 + r.nextInt(2_000), TimeUnit.NANOSECONDS);
                    }
                }
                default -> clock.advance(ns(r.nextInt(60)));
            }
            int due = (int) all.stream().filter(t -> t.isPending() && t.remaining().isZero()).count();
            int ran = 0;
            long answer = 0;
            for (int visits = 0; visits < 10 && answer == 0; visits++) {
                answer = loop.nanosUntilNext();
                ran += answer == 0 ? loop.runDue() : 0;
            }
            assertEquals(due, ran, () -> "seed " + seed);
            long expected = all.stream().filter(Timer::isPending).mapToLong(t -> t.remaining().toNanos()).min()
                    .orElse(Long.MAX_VALUE);
            assertEquals(expected, answer, () -> "seed " + seed);
            all.removeIf(t -> !t.isPending() && r.nextInt(4) == 0);
        }
    }

    // ---- runDue ----

    @Test
    void runDue_severalDue_runsThemByDeadlineThenInTheOrderOfArming() {
        after(30, "c");
        after(10, "a1");
        after(20, "b");
        after(10, "a2");
        after(31, "late");
        after(10, "a3");
        clock.advance(ns(30));
        assertEquals(5, loop.runDue());
        assertEquals(List.of("a1", "a2", "a3", "b", "c"), log);
        assertEquals(0, loop.runDue());
        assertEquals(1, loop.nanosUntilNext());
        assertAccount(timers, 6, 5, 0, 0, 0);
    }

    @Test
    void runDue_notYetDue_runsNothing() {
        after(10, "a");
        assertEquals(0, loop.runDue());
        clock.advance(ns(9));
        assertEquals(0, loop.runDue());
        assertEquals(List.of(), log);
    }

    @Test
    void runDue_armedElsewhere_runsHereInOrder() {
        runElsewhere(() -> {
            loop.after(ns(20), () -> log.add("b on " + Thread.currentThread().getName()));
            loop.after(10, TimeUnit.NANOSECONDS, () -> log.add("a on " + Thread.currentThread().getName()));
        });
        Ticker ticker = elsewhere(() -> loop.every(ns(15), () -> log.add("tick")));
        Ticker bursting = elsewhere(() -> loop.every(ns(18), MissedTicks.BURST, () -> log.add("burst")));
        assertEquals(10, loop.nanosUntilNext());
        clock.advance(ns(20));
        assertEquals(4, loop.runDue());
        String me = Thread.currentThread().getName();
        assertEquals(List.of("a on " + me, "tick", "burst", "b on " + me), log);
        assertTrue(elsewhere(ticker::stop));
        assertTrue(elsewhere(bursting::stop));
        assertEquals(Long.MAX_VALUE, settle(loop));
    }

    @Test
    void runDue_limit_leavesTheRestForLaterInOrder() {
        for (int i = 0; i < 10; i++) {
            after(i, "t" + i);
        }
        clock.advance(ns(10));
        for (int expected : new int[] {3, 3, 3, 1}) {
            assertEquals(0, loop.nanosUntilNext());
            assertEquals(expected, loop.runDue(3));
        }
        assertEquals(0, loop.runDue(3));
        assertEquals(IntStream.range(0, 10).mapToObj(i -> "t" + i).toList(), log);
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
    }

    @Test
    void runDue_limitThatIsJustMet_runsAll() {
        after(1, "a");
        after(2, "b");
        clock.advance(ns(2));
        assertEquals(2, loop.runDue(2));
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
    }

    @Test
    void runDue_limitedAgainAndAgain_lateArrivalsHaveTheirTurn() {
        for (int i = 0; i < 4; i++) {
            after(10, "t" + i);
        }
        clock.advance(ns(10));
        assertEquals(2, loop.runDue(2));
        after(0, "later, and due at the same instant");
        assertEquals(2, loop.runDue(2));
        assertEquals(1, loop.runDue(2));
        assertEquals(List.of("t0", "t1", "t2", "t3", "later, and due at the same instant"), log);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, Integer.MAX_VALUE})
    void runDue_manyDeadInFront_reachesTheLiveOnes(int limit) {
        arm(100_000, HOUR);
        List<Timer> dead = arm(20_000, ns(10));
        after(11, "a");
        after(11, "b");
        loop.nanosUntilNext();
        stopAll(dead);
        clock.advance(ns(20));
        int ran = 0;
        for (int visits = 0; ran < 2; visits++) {
            assertTrue(visits < 10, "it never came to them");
            assertEquals(0, loop.nanosUntilNext(), "something is due");
            ran += loop.runDue(limit);
        }
        assertEquals(List.of("a", "b"), log);
        assertEquals(HOUR.toNanos() - 20, settle(loop));
    }

    @Test
    void runDue_hundredThousandDue_runsAllInOneCall() {
        arm(100_000, ns(10));
        clock.advance(ns(10));
        assertEquals(100_000, loop.runDue());
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
        assertAccount(timers, 100_000, 100_000, 0, 0, 0);
    }

    /** The loop's thread may wait for it, so it is a worker's. */
    @Test
    void alarm_ofALoopsThread_ringsThoughTheLoopDoesNotRun() throws Exception {
        try (TimerScheduler withWorker = TimerScheduler.builder().clock(clock).build();
                TimerLoop its = withWorker.attach(NOTHING)) {
            Alarm signal = withWorker.alarm(ns(10));
            Alarm beat = withWorker.alarmEvery(ns(10));
            assertFalse(signal.await(NOW));
            clock.advance(ns(10));
            assertTrue(signal.await(NOW));
            assertTrue(beat.await(NOW));
            assertEquals(0, its.runDue());
        }
    }

    // ---- the clock and the loop ----

    @Test
    void advance_loopsTimers_areLeftToTheLoop() {
        after(10, "a");
        assertEquals(0, clock.advance(ns(50)));
        assertEquals(List.of(), log);
        assertEquals(50, clock.nanoTime());
        assertEquals(1, loop.runDue());
        assertEquals(List.of("a"), log);
    }

    @Test
    void advance_workersTimers_runAndTheLoopsDoNot() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(1).build();
                TimerLoop l = s.attach(NOTHING)) {
            runElsewhere(() -> {
                s.after(ns(10), () -> log.add("worker"));
                s.every(ns(10), () -> log.add("tick"));
                l.after(ns(5), () -> log.add("loop"));
            });
            assertEquals(0, l.runDue());
            assertEquals(3, clock.advance(ns(25)));
            assertEquals(List.of("worker", "tick", "tick"), log);
            assertEquals(1, l.runDue());
            assertEquals("loop", log.get(3));
        }
    }

    @Test
    void runDue_twoLoopsOfOneScheduler_eachRunsItsOwn() {
        after(10, "mine");
        runElsewhere(() -> {
            TimerLoop other = timers.attach(NOTHING);
            timers.after(ns(10), () -> log.add("theirs"));
            clock.advance(ns(10));
            assertEquals(1, other.runDue());
            assertEquals(List.of("theirs"), log);
            other.close();
        });
        assertEquals(1, loop.runDue());
        assertEquals(List.of("theirs", "mine"), log);
    }

    @Test
    void runDue_twoSchedulersOnOneThread_areApart() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).build();
                TimerLoop second = s.attach(NOTHING)) {
            after(10, "first");
            s.after(ns(20), () -> log.add("second"));
            assertEquals(20, second.nanosUntilNext());
            clock.advance(ns(20));
            assertEquals(1, second.runDue());
            assertEquals(1, loop.runDue());
            assertEquals(List.of("second", "first"), log);
        }
    }

    @Test
    void runDue_everyCallback_hasTheLoopsThread() {
        List<Thread> on = new ArrayList<>();
        loop.after(NOW, () -> on.add(Thread.currentThread()));
        runElsewhere(() -> loop.after(NOW, () -> on.add(Thread.currentThread())));
        assertEquals(2, loop.runDue());
        assertEquals(2, on.size());
        on.forEach(t -> assertSame(Thread.currentThread(), t));
    }
}
