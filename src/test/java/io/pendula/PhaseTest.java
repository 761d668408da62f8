package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Timeline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** When the first tick comes, and arming by an instant that was computed by the caller. */
@Timeout(60)
class PhaseTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();
    private final TimerScheduler s = TimerScheduler.builder().clock(clock).build();
    private final List<Long> at = new ArrayList<>();

    @AfterEach
    void close() {
        s.close();
    }

    private void note() {
        at.add(clock.nanoTime() / 1_000_000);
    }

    @Test
    void every_initialDelay_isTheFirstTickThenEachPeriod() {
        s.every(Duration.ofMillis(300), SECOND, this::note);
        clock.advance(Duration.ofMillis(3500));
        assertEquals(List.of(300L, 1300L, 2300L, 3300L), at);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -5})
    void every_initialDelayZeroOrLess_ticksAtOnceButNotInsideTheCall(long delay) {
        s.every(Duration.ofMillis(delay), SECOND, this::note);
        assertEquals(List.of(), at);
        clock.advance(SECOND);
        assertEquals(List.of(0L, 1000L), at);
    }

    @ParameterizedTest
    @EnumSource(MissedTicks.class)
    void every_initialDelayLongerThanThePeriod_missesNothing(MissedTicks missedTicks) {
        Ticker t = s.every(Duration.ofSeconds(5), SECOND, missedTicks, this::note);
        clock.advance(Duration.ofSeconds(6));
        assertEquals(List.of(5000L, 6000L), at);
        assertEquals(0, t.missed());
    }

    @Test
    void every_reset_beginsAnewAfterOnePeriod() {
        Ticker t = s.every(Duration.ofMillis(300), SECOND, this::note);
        clock.advance(Duration.ofMillis(100));
        assertTrue(t.reset(Duration.ofMillis(500)));
        clock.advance(Duration.ofMillis(1000));
        assertEquals(List.of(600L, 1100L), at);
    }

    @Test
    void every_badArguments_throw() {
        assertEquals("initialDelay must not be null", assertThrows(NullPointerException.class,
                () -> s.every((Duration) null, SECOND, this::note)).getMessage());
        assertThrows(IllegalArgumentException.class, () -> s.every(SECOND, Duration.ZERO, this::note));
        assertThrows(NullPointerException.class, () -> s.every(SECOND, SECOND, null, this::note));
        assertThrows(NullPointerException.class, () -> s.every(SECOND, SECOND, null));
        assertEquals(0, s.pending());
    }

    @Test
    void everyAtRandomPhase_firstTicksAreSpreadAndThePhaseIsKept() {
        int[] perTenth = new int[10];
        List<List<Long>> ticks = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            List<Long> mine = new ArrayList<>();
            ticks.add(mine);
            s.everyAtRandomPhase(SECOND, () -> mine.add(clock.nanoTime()));
        }
        clock.advance(Duration.ofSeconds(3).minusNanos(1));
        for (List<Long> mine : ticks) {
            assertEquals(3, mine.size());
            assertEquals(SECOND.toNanos(), mine.get(1) - mine.get(0));
            assertEquals(SECOND.toNanos(), mine.get(2) - mine.get(1));
            perTenth[(int) (mine.get(0) / 100_000_000)]++;
        }
        for (int n : perTenth) {
            assertTrue(n > 700 && n < 1300, "10,000 first ticks, and a tenth of the period has " + n);
        }
        assertThrows(IllegalArgumentException.class, () -> s.everyAtRandomPhase(Duration.ZERO, this::note));
    }

    @Test
    void loop_everyAndAt_runOnTheLoop() {
        TimerScheduler none = TimerScheduler.builder().workers(0).clock(clock).build();
        try (TimerLoop loop = none.attach(() -> {})) {
            loop.every(Duration.ofMillis(300), SECOND, MissedTicks.SKIP, this::note);
            loop.at(none.now() + 500_000_000, this::note);
            for (int i = 0; i < 20; i++) {
                clock.advance(Duration.ofMillis(100));
                loop.runDue();
            }
            assertEquals(List.of(300L, 500L, 1300L), at);
        }
        none.close();
    }

    // ---- now and at ----

    @Test
    void at_instantFromNow_firesThen() {
        clock.advance(Duration.ofMillis(7));
        long now = s.now();
        s.at(now + 5_000_000, this::note);
        s.at(now + 3_000_000, this::note);
        clock.advance(Duration.ofMillis(4));
        assertEquals(List.of(10L), at);
        clock.advance(Duration.ofMillis(1));
        assertEquals(List.of(10L, 12L), at);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE / 2, -1, 0, 1})
    void at_instantInThePast_isDueAtOnceAndLate(long instant) {
        clock.advance(Duration.ofSeconds(1));
        Timer t = s.at(instant, this::note);
        assertTrue(t.isPending());
        assertEquals(Duration.ZERO, t.remaining());
        assertEquals(List.of(), at, "not inside the call");
        assertEquals(1, clock.advance(Duration.ZERO));
        assertEquals(1_000_000_000, s.stats().maxLatenessNanos());
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE, Timeline.NEVER, Timeline.NEVER + 1, Long.MIN_VALUE, Long.MIN_VALUE / 2 - 1})
    void at_instantBeyondTheEnd_neverFires(long instant) {
        s.at(instant, this::note);
        clock.advance(Duration.ofDays(17 * 365));
        assertEquals(List.of(), at);
        assertEquals(1, s.pending());
    }

    @Test
    void at_sameInstant_keepsTheOrderOfArming() {
        List<Integer> order = new ArrayList<>();
        long instant = s.now() + 1000;
        for (int i = 0; i < 10; i++) {
            int n = i;
            s.at(instant, () -> order.add(n));
        }
        clock.advance(SECOND);
        assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), order);
    }

    @Test
    void at_realTime_neverEarly() {
        try (TimerScheduler real = TimerScheduler.builder().workers(1).build()) {
            AtomicInteger early = new AtomicInteger();
            AtomicInteger ran = new AtomicInteger();
            long now = real.now();
            for (int i = 0; i < 1000; i++) {
                long when = now + i * 20_000;
                real.at(when, () -> {
                    early.addAndGet(real.now() < when ? 1 : 0);
                    ran.incrementAndGet();
                });
            }
            LifeFixtures.eventually("all ran", () -> ran.get() == 1000);
            assertEquals(0, early.get());
        }
    }
}
