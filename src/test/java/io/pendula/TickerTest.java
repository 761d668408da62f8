package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Fixtures.ThrownListener;
import io.pendula.internal.engine.Receiver;
import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerHeap;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
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
        assertNames("period", () -> timers.every((Duration) null));
        assertNames("period", () -> Ticker.every(null, () -> {}));
        assertNames("missedTicks", () -> Ticker.every(ms(1), null, () -> {}));
        assertNames("task", () -> Ticker.every(ms(1), null));
        assertNames("period", () -> Ticker.every((Duration) null));
        assertEquals(0, timers.pending());
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT-2562047788015215H"})
    void every_periodNotPositive_isRejectedWithItsValue(String text) {
        Duration period = Duration.parse(text);
        Ticker k = every(5);
        for (Executable call : List.<Executable>of(() -> timers.every(period, () -> {}), () -> timers.every(period),
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
        assertThrows(RejectedExecutionException.class, () -> timers.every(ms(1)));
    }

    @Test
    void every_sharedScheduler_ticks() throws InterruptedException {
        CountDownLatch ticked = new CountDownLatch(6);
        try (Ticker a = Ticker.every(ms(1), ticked::countDown);
                Ticker b = Ticker.every(ms(1), MissedTicks.BURST, ticked::countDown);
                Ticker c = Ticker.every(ms(1))) {
            Fixtures.await(ticked);
            c.await();
            assertTrue(a.stop() & b.stop() & c.stop());
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

    // ---- await ----

    @Test
    void await_severalTicks_keepsOneAndCountsTheOthers() throws InterruptedException {
        Ticker k = timers.every(ms(10));
        assertFalse(k.await(Duration.ZERO));
        advance(10);
        assertTrue(k.await(Duration.ZERO));
        assertFalse(k.await(Duration.ZERO));
        assertEquals(0, k.missed());
        advance(30);
        assertEquals(2, k.missed());
        k.await();
        assertFalse(k.await(ms(-1)));
        assertEquals(1, timers.pending());
    }

    @Test
    void missed_closed_doesNotFall() {
        Ticker k = timers.every(ms(10));
        advance(30);
        assertEquals(2, k.missed());
        k.close();
        assertEquals(2, k.missed());
    }

    @Test
    void await_waiting_returnsAtTheTick() throws Exception {
        Ticker k = timers.every(ms(10));
        FutureTask<Void> waiter = new FutureTask<>(() -> {
            k.await();
            return null;
        });
        Thread thread = new Thread(waiter);
        thread.start();
        Fixtures.awaitWaiting(thread);
        advance(10);
        waiter.get(Fixtures.PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertEquals(0, k.missed());
    }

    @Test
    void await_realClock_isNotEarly() throws InterruptedException {
        long began = System.nanoTime();
        try (Ticker k = Ticker.every(ms(2))) {
            for (int i = 1; i <= 3; i++) {
                k.await();
                assertTrue(System.nanoTime() - began >= i * 2_000_000L);
            }
        }
    }

    @Test
    void stop_tickKept_discardsIt() throws InterruptedException {
        Ticker k = timers.every(ms(10));
        advance(10);
        assertTrue(k.stop());
        assertFalse(k.await(Duration.ZERO));
        assertFalse(k.reset(ms(10)));
        assertFalse(k.await(Duration.ZERO));
        advance(10);
        assertTrue(k.await(Duration.ZERO));
    }

    @Test
    void reset_tickKept_discardsIt() throws InterruptedException {
        Ticker k = timers.every(ms(10));
        advance(10);
        assertTrue(k.reset(ms(5)));
        assertFalse(k.await(Duration.ZERO));
        advance(5);
        assertTrue(k.await(Duration.ZERO));
        assertEquals(1, k.missed());
    }

    @Test
    void missed_ticksAreReceivedTakenAwayOrDropped_eachIsCountedOnce() throws InterruptedException {
        Ticker k = timers.every(ms(10));
        int received = 0;
        int fired = 0;
        for (int i = 0; i < 60; i++) {
            fired += (int) clock.advance(ms(10));
            switch (i % 5) {
                case 0 -> k.reset(ms(i % 3 == 0 ? 5 : 10));
                case 1 -> k.stop();
                case 2 -> k.reset(ms(10));
                default -> received += k.await(Duration.ZERO) ? 1 : 0;
            }
        }
        k.stop();
        assertTrue(received > 10, "received " + received);
        assertEquals(fired - received, k.missed());
    }

    /** A ticker on a queue of its own; its clock calls back once, in the middle of what reads it. */
    private static final class Alone {
        long now = 100;
        Runnable inTheMiddle;
        final TimerQueue queue = new TimerQueue(0, new Timeline(this::read), null, new TimerHeap(), null, false,
                new WakeGate());
        final Receiver.Ticks signal = new Receiver.Ticks();
        final PeriodicTimer ticker = new PeriodicTimer(queue, signal, 10, MissedTicks.SKIP);

        Alone() {
            queue.arm(ticker, queue.timeline.deadlineIn(10));
        }

        private long read() {
            Runnable hook = inTheMiddle;
            inTheMiddle = null;
            if (hook != null) {
                hook.run();
            }
            return now;
        }

        /** The firing that is due after so long, or null. */
        Fixtures.Claim claimAfter(long nanos) {
            now += nanos;
            Fixtures.Claim run = new Fixtures.Claim();
            Inside.lock(queue).lock();
            try {
                Inside.drain(queue);
                return Inside.claimDue(queue, queue.timeline.now(), run) ? run : null;
            } finally {
                Inside.lock(queue).unlock();
            }
        }

        void run(Fixtures.Claim claimed) {
            ticker.fire(claimed.task, claimed.deadline);
            queue.endRun(ticker);
        }

        /** Whether a receiver gets the tick. */
        boolean delivers(Fixtures.Claim claimed) {
            run(claimed);
            return signal.take();
        }
    }

    @Test
    void stop_tickClaimedButNotKeptYet_discardsIt() {
        Alone s = new Alone();
        Fixtures.Claim run = s.claimAfter(10);
        assertTrue(s.ticker.stop());
        assertFalse(s.delivers(run));
        assertEquals(1, s.ticker.missed());
    }

    @Test
    void reset_tickClaimedButNotKeptYet_discardsIt() {
        Alone s = new Alone();
        Fixtures.Claim run = s.claimAfter(10);
        assertTrue(s.ticker.reset(Duration.ofNanos(3)));
        assertFalse(s.delivers(run));
        assertTrue(s.delivers(s.claimAfter(3)));
    }

    @Test
    void reset_threadIsHeldUpUntilItsFirstTick_keepsThatTick() {
        Alone s = new Alone();
        s.inTheMiddle = () -> s.inTheMiddle = () -> s.run(s.claimAfter(7)); // the second reading comes after the reset
        s.ticker.reset(Duration.ofNanos(7));
        assertTrue(s.signal.take());
        assertEquals(0, s.ticker.missed());
    }

    /** The clock throws once, at the reading that comes after the stop or the reset. */
    private static void failAtReading(Alone s, int number) {
        s.inTheMiddle = () -> {
            if (number > 1) {
                failAtReading(s, number - 1);
            } else {
                throw new IllegalStateException("meant");
            }
        };
    }

    @Test
    void stop_clockThrowsAfterIt_hasStoppedAndTakesTheKeptTickAway() {
        Alone s = new Alone();
        s.run(s.claimAfter(10));
        failAtReading(s, 1);
        assertTrue(s.ticker.stop());
        assertNull(s.inTheMiddle, "the clock has thrown");
        assertFalse(s.signal.take());
        assertEquals(1, s.ticker.missed());
        assertFalse(s.ticker.stop());
    }

    @Test
    void reset_clockThrowsAfterIt_hasResetAndTakesTheKeptTickAway() {
        Alone s = new Alone();
        s.run(s.claimAfter(10));
        failAtReading(s, 2);
        assertTrue(s.ticker.reset(Duration.ofNanos(3)));
        assertNull(s.inTheMiddle, "the clock has thrown");
        assertFalse(s.signal.take());
        assertEquals(1, s.ticker.missed());
        assertTrue(s.delivers(s.claimAfter(3)));
    }

    @Test
    void stop_resetByAnotherInTheMiddle_keepsTheTicksThatFollow() {
        Alone s = new Alone();
        s.inTheMiddle = () -> s.ticker.reset(Duration.ofNanos(7));
        assertTrue(s.ticker.stop());
        assertNull(s.claimAfter(6));
        assertTrue(s.delivers(s.claimAfter(1)));
    }

    @Test
    void reset_shorterResetByAnotherInTheMiddle_keepsTheTicksThatFollow() {
        Alone s = new Alone();
        s.inTheMiddle = () -> s.inTheMiddle = () -> s.ticker.reset(Duration.ofNanos(7));
        s.ticker.reset(Duration.ofDays(1));
        assertTrue(s.delivers(s.claimAfter(7)));
    }

    @Test
    void await_tickerWithTask_throws() {
        Ticker k = every(10);
        assertThrows(IllegalStateException.class, k::await);
        assertThrows(IllegalStateException.class, () -> k.await(ms(1)));
        assertNames("timeout", () -> timers.every(ms(1)).await(null));
    }

    @Test
    void await_closed_throws() throws Exception {
        Ticker k = timers.every(ms(10));
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = new Thread(() -> thrown.set(assertThrows(CancellationException.class, k::await)));
        thread.start();
        Fixtures.awaitWaiting(thread);
        k.close();
        Fixtures.join(thread);
        assertNotNull(thrown.get());
        assertThrows(CancellationException.class, () -> k.await(ms(1)));
    }

    @Test
    void await_schedulerClosed_throws() throws Exception {
        Ticker k = timers.every(ms(10));
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = new Thread(() -> thrown.set(assertThrows(CancellationException.class, k::await)));
        thread.start();
        Fixtures.awaitWaiting(thread);
        timers.close();
        Fixtures.join(thread);
        assertNotNull(thrown.get());
    }
}
