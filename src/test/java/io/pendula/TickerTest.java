package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Fixtures.ThrownListener;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class TickerTest {
    private final ManualClock clock = new ManualClock();
    private final ThrownListener listener = new ThrownListener();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).listener(listener).build();
    private final List<Long> ticks = new ArrayList<>();

    private static Duration ms(long millis) {
        return Duration.ofMillis(millis);
    }

    private void tick() {
        ticks.add(clock.nanoTime() / 1_000_000);
    }

    private Ticker every(long millis) {
        return timers.every(ms(millis), this::tick);
    }

    private void advance(long millis) {
        clock.advance(ms(millis));
        assertEquals(List.of(), listener.thrown);
    }

    private static void assertNames(String argument, Executable call) {
        assertEquals(argument + " must not be null", assertThrows(NullPointerException.class, call).getMessage());
    }

    // ---- every ----

    @Test
    void every_nullArguments_areNamed() {
        assertNames("period", () -> timers.every(null, () -> {}));
        assertNames("task", () -> timers.every(ms(1), null));
        assertNames("period", () -> timers.every(null, MissedTicks.BURST, () -> {}));
        assertNames("missedTicks", () -> timers.every(ms(1), (MissedTicks) null, () -> {}));
        assertNames("task", () -> timers.every(ms(1), MissedTicks.BURST, null));
        assertNames("period", () -> timers.alarmEvery(null));
        assertNames("period", () -> Ticker.every(null, () -> {}));
        assertNames("missedTicks", () -> TimerScheduler.shared().every(ms(1), (MissedTicks) null, () -> {}));
        assertNames("task", () -> Ticker.every(ms(1), null));
        assertNames("period", () -> Alarm.every(null));
        assertEquals(0, timers.pending());
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT-2562047788015215H"})
    void every_periodNotPositive_isRejectedWithItsValue(String text) {
        Duration period = Duration.parse(text);
        Ticker k = every(5);
        for (Executable call : List.<Executable>of(() -> timers.every(period, () -> {}),
                () -> timers.every(period, MissedTicks.DELAY, () -> {}), () -> Ticker.every(period, () -> {}),
                () -> k.reset(period))) {
            assertEquals("period must be positive, but is " + period,
                    assertThrows(IllegalArgumentException.class, call).getMessage());
        }
        advance(5);
        assertEquals(List.of(5L), ticks);
    }

    @Test
    void every_onTime_ticksOnItsGrid() {
        every(10);
        advance(9);
        assertEquals(List.of(), ticks);
        advance(26);
        assertEquals(List.of(10L, 20L, 30L), ticks);
        assertEquals(1, timers.pending());
    }

    /** Both are claimed by one poll, hence by one reading of the clock, but the first takes 1,030 ms. */
    @ParameterizedTest
    @CsvSource({"SKIP, 70, 10", "DELAY, 100, 10", "BURST, 0, 0"})
    void every_longCallbackBeforeATick_theTickIsLateByThat(MissedTicks policy, long millisToNext, long missed) {
        AtomicLong now = new AtomicLong();
        try (TimerScheduler s = TimerScheduler.builder().workers(0).clock(now::get).build();
                TimerLoop loop = s.attach(() -> {})) {
            loop.after(ms(1), () -> now.addAndGet(ms(1_030).toNanos()));
            Ticker k = loop.every(ms(1), ms(100), policy, () -> {});
            now.addAndGet(ms(1).toNanos());
            assertEquals(2, loop.runDue());
            assertEquals(ms(millisToNext), k.remaining());
            assertEquals(missed, k.missed());
        }
    }

    @Test
    void every_closed_isRejected() {
        timers.close();
        assertThrows(RejectedExecutionException.class, () -> every(1));
        assertThrows(RejectedExecutionException.class, () -> timers.alarmEvery(ms(1)));
    }

    @Test
    void every_sharedScheduler_ticks() throws InterruptedException {
        CountDownLatch ticked = new CountDownLatch(6);
        try (Ticker a = Ticker.every(ms(1), ticked::countDown);
                Ticker b = TimerScheduler.shared().every(ms(1), MissedTicks.BURST, ticked::countDown)) {
            Fixtures.await(ticked);
            assertTrue(a.stop() & b.stop());
        }
    }

    // ---- missed ticks: a queue driven late ----

    /** Deadline-by-deadline, what a worker that comes late at the given times makes of a ticker. */
    private List<Long> ticksOf(MissedTicks policy, AtomicLong missed, long... times) {
        Fixtures.Rig rig = new Fixtures.Rig(false);
        List<Long> deadlines = new ArrayList<>();
        PeriodicTimer k = new PeriodicTimer(rig.queue, () -> {}, 10_000_000, policy);
        rig.queue.arm(k, 10_000_000);
        for (long time : times) {
            Fixtures.Claim run;
            while ((run = rig.claim(time * 1_000_000)) != null) {
                deadlines.add(run.deadline / 1_000_000);
                k.fire(run.task, run.deadline);
                rig.queue.endRun(k);
            }
        }
        missed.set(k.missed());
        return deadlines;
    }

    @Test
    void missedTicks_skip_leavesThemOutAndCounts() {
        AtomicLong missed = new AtomicLong();
        assertEquals(List.of(10L, 20L, 60L, 70L), ticksOf(MissedTicks.SKIP, missed, 10, 53, 59, 60, 79));
        assertEquals(3, missed.get());
    }

    @Test
    void missedTicks_burst_catchesUp() {
        AtomicLong missed = new AtomicLong();
        assertEquals(List.of(10L, 20L, 30L, 40L, 50L, 60L), ticksOf(MissedTicks.BURST, missed, 10, 53, 60));
        assertEquals(0, missed.get());
    }

    @Test
    void missedTicks_delay_movesTheGrid() {
        AtomicLong missed = new AtomicLong();
        assertEquals(List.of(10L, 20L, 63L, 73L), ticksOf(MissedTicks.DELAY, missed, 14, 53, 62, 63, 73));
        assertEquals(3, missed.get());
    }

    @Test
    void missedTicks_skipByDefault() {
        Ticker k = every(10);
        clock.advance(ms(35));
        assertEquals(0, k.missed());
        assertEquals(List.of(10L, 20L, 30L), ticks);
    }

    // ---- stop, reset, close ----

    @Test
    void stop_ticking_endsItOnce() {
        Ticker k = every(10);
        advance(20);
        assertTrue(k.stop());
        assertFalse(k.stop());
        advance(50);
        assertEquals(List.of(10L, 20L), ticks);
        assertEquals(0, timers.pending());
    }

    @Test
    void stop_inOwnCallback_isTrueAndEndsIt() {
        AtomicReference<Ticker> self = new AtomicReference<>();
        List<Boolean> results = new ArrayList<>();
        self.set(timers.every(ms(10), () -> {
            tick();
            results.add(self.get().stop());
            results.add(self.get().stop());
        }));
        advance(50);
        assertEquals(List.of(true, false), results);
        assertEquals(List.of(10L), ticks);
    }

    @Test
    void reset_ticking_startsANewGrid() {
        Ticker k = every(10);
        advance(13);
        assertTrue(k.reset(ms(4)));
        advance(12);
        assertEquals(List.of(10L, 17L, 21L, 25L), ticks);
        assertTrue(k.reset(ms(20)));
        advance(40);
        assertEquals(List.of(10L, 17L, 21L, 25L, 45L, 65L), ticks);
    }

    @Test
    void reset_stopped_ticksAgain() {
        Ticker k = every(10);
        k.stop();
        advance(3);
        assertFalse(k.reset(ms(10)));
        advance(20);
        assertEquals(List.of(13L, 23L), ticks);
    }

    @Test
    void reset_inOwnCallback_changesThePeriod() {
        AtomicReference<Ticker> self = new AtomicReference<>();
        self.set(timers.every(ms(10), () -> {
            tick();
            if (ticks.size() == 2) {
                assertTrue(self.get().reset(ms(3)));
            }
        }));
        advance(26);
        assertEquals(List.of(10L, 20L, 23L, 26L), ticks);
    }

    @Test
    void reset_stoppedInOwnCallback_goesOn() {
        AtomicReference<Ticker> self = new AtomicReference<>();
        self.set(timers.every(ms(10), () -> {
            tick();
            assertTrue(self.get().stop());
            assertFalse(self.get().reset(ms(5)));
        }));
        advance(20);
        assertEquals(List.of(10L, 15L, 20L), ticks);
    }

    @Test
    void reset_badArguments_areNamed() {
        assertNames("period", () -> every(1).reset(null));
    }

    @Test
    void reset_closedTicker_throws() {
        Ticker k = every(10);
        k.close();
        k.close();
        assertThrows(IllegalStateException.class, () -> k.reset(ms(1)));
        assertFalse(k.stop());
        advance(50);
        assertEquals(List.of(), ticks);
    }

    @Test
    void reset_schedulerClosed_isRejected() {
        Ticker k = every(10);
        timers.close();
        assertThrows(RejectedExecutionException.class, () -> k.reset(ms(1)));
    }

    @Test
    void close_inOwnCallback_endsIt() {
        AtomicReference<Ticker> self = new AtomicReference<>();
        self.set(timers.every(ms(10), () -> {
            tick();
            self.get().close();
        }));
        advance(50);
        assertEquals(List.of(10L), ticks);
        assertThrows(IllegalStateException.class, () -> self.get().reset(ms(1)));
    }

    /** In a frame of its own, so that no local variable keeps the task alive. */
    private WeakReference<Object> startWithBigTask(AtomicReference<Ticker> ticker) {
        byte[] big = new byte[1_000];
        ticker.set(timers.every(ms(5), () -> assertNotNull(big)));
        return new WeakReference<>(big);
    }

    @Test
    void close_ticking_dropsTheTask() throws InterruptedException {
        AtomicReference<Ticker> k = new AtomicReference<>();
        WeakReference<Object> task = startWithBigTask(k);
        advance(7);
        k.get().close();
        Fixtures.awaitCollected(task);
        Reference.reachabilityFence(k);
    }

    @Test
    void toString_anyState_tellsIt() {
        Ticker k = every(10);
        assertTrue(k.toString().contains(", every 10 ms, due in "), k::toString);
        k.stop();
        assertTrue(k.toString().contains(", every 10 ms") && !k.toString().contains("due in"), k::toString);
    }

    // ---- callbacks ----

    @Test
    void tick_callbackThrows_goesOn() {
        timers.every(ms(10), () -> {
            tick();
            throw new IllegalArgumentException("expected");
        });
        clock.advance(ms(30));
        assertEquals(List.of(10L, 20L, 30L), ticks);
        assertEquals(3, listener.thrown.size());
    }

    /** Idle workers would steal the late tick if it were in a heap. */
    @Test
    void tick_longerThanThePeriod_neverOverlapsItself() throws InterruptedException {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        CountDownLatch ran = new CountDownLatch(20);
        try (TimerScheduler real = TimerScheduler.builder().workers(3).stallAfter(Duration.ZERO).build()) {
            Ticker k = real.every(Duration.ofNanos(1), MissedTicks.BURST, () -> {
                if (inside.incrementAndGet() != 1) {
                    overlaps.incrementAndGet();
                }
                long end = System.nanoTime() + 2_000_000;
                while (System.nanoTime() < end) {
                    Thread.onSpinWait();
                }
                inside.decrementAndGet();
                ran.countDown();
            });
            Fixtures.await(ran);
            k.stop();
        }
        assertEquals(0, overlaps.get());
    }
}
