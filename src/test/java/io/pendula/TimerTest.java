package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.PendingLimit;
import io.pendula.internal.queue.TimerNode;
import io.pendula.Fixtures.ThrownListener;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class TimerTest {
    private final ManualClock clock = new ManualClock();
    private final ThrownListener listener = new ThrownListener();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).listener(listener).build();
    private final AtomicInteger runs = new AtomicInteger();

    private static Duration ms(long millis) {
        return Duration.ofMillis(millis);
    }

    private Timer after(long millis) {
        return timers.after(ms(millis), runs::incrementAndGet);
    }

    private void advance(long millis) {
        clock.advance(ms(millis));
        assertEquals(List.of(), listener.thrown);
    }

    private static void assertNames(String argument, Executable call) {
        assertEquals(argument + " must not be null", assertThrows(NullPointerException.class, call).getMessage());
    }

    // ---- after ----

    @Test
    void after_nullArguments_areNamed() {
        assertNames("delay", () -> timers.after(null, () -> {}));
        assertNames("task", () -> timers.after(ms(1), null));
        assertNames("unit", () -> timers.after(1, null, () -> {}));
        assertNames("task", () -> timers.after(1, TimeUnit.SECONDS, null));
        assertNames("delay", () -> timers.alarm(null));
        assertNames("delay", () -> Timer.after(null, () -> {}));
        assertNames("task", () -> Timer.after(ms(1), null));
        assertNames("unit", () -> Timer.after(1, null, () -> {}));
        assertNames("delay", () -> Alarm.after(null));
        assertEquals(0, timers.pending());
    }

    @Test
    void after_delayPassed_runsOnceAndNotEarlier() {
        Timer t = after(5);
        clock.advance(ms(5).minusNanos(1));
        assertEquals(0, runs.get());
        assertTrue(t.isPending());
        clock.advance(Duration.ofNanos(1));
        assertEquals(1, runs.get());
        assertFalse(t.isPending());
        advance(100);
        assertEquals(1, runs.get());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void after_zeroOrNegative_isDueAtOnceButNotInTheCall(long delay) {
        timers.after(delay, TimeUnit.MICROSECONDS, runs::incrementAndGet);
        assertEquals(0, runs.get());
        advance(0);
        assertEquals(1, runs.get());
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE, Long.MAX_VALUE - 1, Long.MAX_VALUE / 2})
    void at_nowPlusADelayThatMeansNever_neverRuns(long delay) {
        advance(1_000);
        Timer t = timers.at(timers.now() + delay, runs::incrementAndGet);
        try (TimerScheduler looped = TimerScheduler.builder().workers(0).build()) {
            TimerLoop loop = looped.attach(() -> {});
            Timer ofLoop = loop.at(looped.now() + delay, runs::incrementAndGet);
            loop.runDue();
            assertTrue(ofLoop.isPending());
            loop.close();
        }
        advance(1_000);
        assertTrue(t.isPending());
        assertEquals(0, runs.get());
    }

    @Test
    void after_sharedScheduler_runs() throws InterruptedException {
        CountDownLatch ran = new CountDownLatch(2);
        Timer.after(ms(1), ran::countDown);
        Timer.after(1, TimeUnit.MILLISECONDS, ran::countDown);
        Fixtures.await(ran);
    }

    @Test
    void after_closed_isRejected() {
        timers.close();
        assertThrows(RejectedExecutionException.class, () -> after(1));
        assertThrows(RejectedExecutionException.class, () -> timers.alarm(ms(1)));
    }

    // ---- stop ----

    @Test
    void stop_pending_preventsTheRunOnce() {
        Timer t = after(5);
        assertTrue(t.stop());
        assertFalse(t.isPending());
        assertFalse(t.stop());
        advance(10);
        assertEquals(0, runs.get());
    }

    @Test
    void stop_fired_isFalse() {
        Timer t = after(5);
        advance(5);
        assertFalse(t.stop());
        assertEquals(1, runs.get());
    }

    @Test
    void stop_inOwnCallback_isFalse() {
        AtomicReference<Timer> self = new AtomicReference<>();
        AtomicReference<Boolean> stopped = new AtomicReference<>();
        self.set(timers.after(ms(1), () -> stopped.set(self.get().stop())));
        advance(1);
        assertEquals(false, stopped.get());
    }

    @Test
    void stop_inOwnCallbackAfterReset_isTrue() {
        AtomicReference<Timer> self = new AtomicReference<>();
        List<Boolean> results = new ArrayList<>();
        self.set(timers.after(ms(1), () -> {
            runs.incrementAndGet();
            results.add(self.get().isPending());
            results.add(self.get().reset(ms(1)));
            results.add(self.get().isPending());
            results.add(self.get().reset(ms(2)));
            results.add(self.get().stop());
            results.add(self.get().stop());
        }));
        advance(10);
        assertEquals(List.of(false, false, true, true, true, false), results);
        assertEquals(1, runs.get());
        assertEquals(0, timers.pending());
    }

    // ---- reset ----

    @Test
    void reset_badArguments_areNamed() {
        Timer t = after(5);
        assertNames("delay", () -> t.reset(null));
        assertNames("unit", () -> t.reset(1, null));
        assertEquals(ms(5), t.remaining());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 5, 9})
    void reset_pending_firesOnceAtTheNewTime(long millis) {
        Timer t = after(5);
        assertTrue(t.reset(ms(millis)));
        advance(millis - 1);
        assertEquals(0, runs.get());
        advance(1);
        assertEquals(1, runs.get());
        advance(20);
        assertEquals(1, runs.get());
    }

    @Test
    void reset_unitForm_isTheSame() {
        Timer t = after(5);
        assertTrue(t.reset(9_000, TimeUnit.MICROSECONDS));
        assertEquals(ms(9), t.remaining());
    }

    @Test
    void reset_firedOrStopped_armsAnew() {
        Timer t = after(1);
        advance(1);
        assertFalse(t.reset(ms(2)));
        assertTrue(t.isPending());
        advance(2);
        assertEquals(2, runs.get());
        t.reset(ms(1));
        assertTrue(t.stop());
        assertFalse(t.reset(ms(3)));
        advance(3);
        assertEquals(3, runs.get());
    }

    @Test
    void reset_zero_isDueAtOnceButNotInTheCall() {
        Timer t = after(5);
        assertTrue(t.reset(Duration.ZERO));
        assertEquals(0, runs.get());
        advance(0);
        assertEquals(1, runs.get());
    }

    @Test
    void reset_forEver_neverFires() {
        Timer t = after(5);
        assertTrue(t.reset(Long.MAX_VALUE, TimeUnit.SECONDS));
        clock.advance(Duration.ofDays(3_000));
        assertEquals(0, runs.get());
        assertTrue(t.isPending());
        assertTrue(t.stop());
    }

    @Test
    void reset_inOwnCallback_firesAgainAfterIt() {
        AtomicReference<Timer> self = new AtomicReference<>();
        AtomicInteger inside = new AtomicInteger();
        self.set(timers.after(ms(1), () -> {
            assertEquals(1, inside.incrementAndGet());
            if (runs.incrementAndGet() < 5) {
                assertFalse(self.get().reset(Duration.ZERO));
            }
            inside.decrementAndGet();
        }));
        advance(1);
        assertEquals(5, runs.get());
    }

    @Test
    void reset_cancelled_throws() {
        Timer t = after(5);
        t.cancel();
        assertThrows(IllegalStateException.class, () -> t.reset(ms(1)));
        assertThrows(IllegalStateException.class, () -> t.reset(1, TimeUnit.SECONDS));
        advance(10);
        assertEquals(0, runs.get());
    }

    @Test
    void reset_closed_isRejected() {
        Timer t = after(5);
        Timer fired = after(0);
        advance(0);
        timers.close();
        assertThrows(RejectedExecutionException.class, () -> t.reset(ms(1)));
        assertThrows(RejectedExecutionException.class, () -> fired.reset(ms(1)));
        assertFalse(t.isPending());
        assertFalse(fired.isPending());
    }

    // ---- cancel ----

    @Test
    void cancel_pending_isTrueOnce() {
        Timer t = after(5);
        assertTrue(t.cancel());
        assertFalse(t.cancel());
        assertFalse(t.stop());
        assertFalse(t.isPending());
        advance(10);
        assertEquals(0, runs.get());
    }

    @Test
    void cancel_firedOrStopped_isFalse() {
        Timer fired = after(1);
        Timer stopped = after(1);
        stopped.stop();
        advance(1);
        assertFalse(fired.cancel());
        assertFalse(stopped.cancel());
    }

    @Test
    void cancel_inOwnCallback_lastsBeyondIt() {
        AtomicReference<Timer> self = new AtomicReference<>();
        List<Boolean> results = new ArrayList<>();
        self.set(timers.after(ms(1), () -> {
            self.get().reset(ms(1));
            results.add(self.get().cancel());
            results.add(self.get().cancel());
            assertThrows(IllegalStateException.class, () -> self.get().reset(ms(1)));
        }));
        advance(10);
        assertEquals(List.of(true, false), results);
        assertThrows(IllegalStateException.class, () -> self.get().reset(ms(1)));
    }

    /** In a frame of its own, so that no local variable keeps the task alive. */
    private WeakReference<Object> armWithBigTask(AtomicReference<Timer> timer) {
        byte[] big = new byte[1_000];
        timer.set(timers.after(ms(5), () -> assertNotNull(big)));
        return new WeakReference<>(big);
    }

    @Test
    void cancel_pending_dropsTheTask() throws InterruptedException {
        AtomicReference<Timer> t = new AtomicReference<>();
        WeakReference<Object> task = armWithBigTask(t);
        timers.pending(); // drains, so a heap entry remains
        t.get().cancel();
        Fixtures.awaitCollected(task);
        Reference.reachabilityFence(t);
    }

    @Test
    void stop_pending_keepsTheTaskForAReset() {
        AtomicReference<Timer> t = new AtomicReference<>();
        WeakReference<Object> task = armWithBigTask(t);
        t.get().stop();
        System.gc();
        assertNotNull(task.get());
        assertFalse(t.get().reset(ms(1)));
    }

    @Test
    void fired_oneShotForgotten_isCollected() throws InterruptedException {
        AtomicReference<Timer> t = new AtomicReference<>();
        WeakReference<Object> task = armWithBigTask(t);
        advance(5);
        t.set(null);
        Fixtures.awaitCollected(task);
    }

    // ---- isPending, remaining, toString ----

    @Test
    void remaining_pending_fallsToZero() {
        Timer t = after(5);
        assertEquals(ms(5), t.remaining());
        advance(2);
        assertEquals(ms(3), t.remaining());
        t.reset(ms(9));
        assertEquals(ms(9), t.remaining());
        t.stop();
        assertEquals(Duration.ZERO, t.remaining());
    }

    @Test
    void remaining_due_isZeroNotNegative() {
        List<Duration> seen = new ArrayList<>();
        Timer later = after(1);
        timers.after(ms(1), () -> seen.add(later.remaining()));
        Timer behind = after(1);
        timers.after(Duration.ZERO, () -> seen.add(behind.remaining()));
        advance(1);
        assertEquals(List.of(ms(1), Duration.ZERO), seen);
        Timer past = after(-5);
        assertEquals(Duration.ZERO, past.remaining());
        assertTrue(past.isPending());
    }

    @Test
    void remaining_forEver_isAsLongAsCanBeTold() {
        Timer never = timers.after(Duration.ofSeconds(Long.MAX_VALUE), () -> {});
        assertEquals(Long.MAX_VALUE, never.remaining().toNanos());
    }

    @Test
    void toString_anyState_tellsIt() {
        Timer t = after(5);
        assertTrue(t.toString().contains("5 ms"), t.toString());
        t.stop();
        assertTrue(t.toString().contains("not pending"), t.toString());
    }

    // ---- cancelAndAwait ----

    @Test
    void cancelAndAwait_badArguments_areNamed() {
        Timer t = after(5);
        assertNames("limit", () -> t.cancelAndAwait(null));
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> t.cancelAndAwait(ms(-1)));
        assertEquals("limit must not be negative, but is PT-0.001S", e.getMessage());
        assertTrue(t.isPending());
    }

    @Test
    void cancelAndAwait_notRunning_cancelsAndReturnsAtOnce() throws InterruptedException {
        Timer t = after(5);
        assertTrue(t.cancelAndAwait(Duration.ZERO));
        assertFalse(t.isPending());
        assertTrue(t.cancelAndAwait(Duration.ofSeconds(Long.MAX_VALUE)));
    }

    @Test
    void cancelAndAwait_inOwnCallback_isFalseAndCancels() {
        AtomicReference<Timer> self = new AtomicReference<>();
        AtomicReference<Boolean> ended = new AtomicReference<>();
        self.set(timers.after(ms(1), () -> {
            self.get().reset(ms(1));
            try {
                ended.set(self.get().cancelAndAwait(Duration.ofDays(1)));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }));
        advance(10);
        assertEquals(false, ended.get());
        assertFalse(self.get().isPending());
        assertThrows(IllegalStateException.class, () -> self.get().reset(ms(1)));
    }

    @Test
    void cancelAndAwait_running_waitsForTheEnd() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        Timer t = timers.after(ms(1), () -> {
            inside.countDown();
            try {
                Fixtures.await(leave);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            runs.incrementAndGet();
        });
        Thread worker = new Thread(() -> clock.advance(ms(1)));
        worker.start();
        Fixtures.await(inside);
        assertFalse(t.cancelAndAwait(Duration.ZERO));
        assertFalse(t.cancelAndAwait(ms(1)));
        FutureTask<Integer> waiter = new FutureTask<>(() -> {
            assertTrue(t.cancelAndAwait(Duration.ofSeconds(Long.MAX_VALUE)));
            return runs.get();
        });
        Thread thread = new Thread(waiter);
        thread.start();
        Fixtures.awaitWaiting(thread);
        leave.countDown();
        assertEquals(1, waiter.get(Fixtures.PATIENCE_SECONDS, TimeUnit.SECONDS));
        Fixtures.join(worker);
    }

    @Test
    void cancelAndAwait_interrupted_hasCancelledAllTheSame() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        AtomicReference<Timer> self = new AtomicReference<>();
        self.set(timers.after(ms(1), () -> {
            self.get().reset(ms(1));
            inside.countDown();
            try {
                Fixtures.await(leave);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }));
        Thread worker = new Thread(() -> clock.advance(ms(1)));
        worker.start();
        Fixtures.await(inside);
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> self.get().cancelAndAwait(Duration.ofDays(1)));
        assertFalse(self.get().isPending());
        leave.countDown();
        Fixtures.join(worker);
    }

    // ---- shutdownNow ----

    @Test
    void shutdownNow_pending_returnsTheTimers() {
        Timer t = after(5);
        Alarm signal = timers.alarm(ms(6));
        Timer stopped = after(7);
        stopped.stop();
        Ticker ticker = timers.every(ms(1), () -> {});
        List<TimerHandle> unfired = timers.shutdownNow();
        assertEquals(3, unfired.size());
        assertTrue(unfired.containsAll(List.of(t, signal, ticker)));
        assertFalse(t.isPending());
    }

    // ---- maxPending ----

    private final TimerScheduler bounded =
            TimerScheduler.builder().clock(clock).listener(listener).maxPending(3).build();

    /** How many more can be armed; afterwards as before. */
    private int free() {
        List<Timer> more = new ArrayList<>();
        try {
            for (;;) {
                more.add(bounded.after(Duration.ofDays(1), () -> {}));
                assertTrue(more.size() <= 3);
            }
        } catch (RejectedExecutionException full) {
            assertEquals(3, bounded.pending(), "rejected too early");
        }
        more.forEach(t -> assertTrue(t.stop()));
        return more.size();
    }

    @Test
    void maxPending_reached_rejectsAndLeavesNothingBehind() {
        assertEquals(3, free());
        Timer stopped = bounded.after(ms(1), runs::incrementAndGet);
        stopped.stop();
        Alarm signal = bounded.alarm(ms(1));
        bounded.after(ms(5), () -> {});
        bounded.every(ms(5), () -> {});
        assertThrows(RejectedExecutionException.class, () -> bounded.after(ms(1), runs::incrementAndGet));
        assertThrows(RejectedExecutionException.class, () -> bounded.alarm(ms(1)));
        assertThrows(RejectedExecutionException.class, () -> bounded.every(ms(1), runs::incrementAndGet));
        assertThrows(RejectedExecutionException.class, () -> stopped.reset(ms(1)));
        assertFalse(stopped.isPending());
        assertTrue(signal.reset(ms(2)), "an armed timer needs no other permit");
        assertEquals(3, bounded.pending());
        clock.advance(ms(2));
        assertEquals(0, runs.get());
        assertFalse(stopped.reset(ms(1)));
        assertEquals(0, free());
    }

    @Test
    void maxPending_everyWayOut_givesThePermitBack() {
        Timer t = bounded.after(ms(1), () -> {});
        assertEquals(2, free());
        t.reset(ms(2));
        t.reset(ms(1));
        assertEquals(2, free());
        clock.advance(ms(1));
        assertEquals(3, free());
        t.reset(ms(1));
        bounded.pending();
        t.reset(ms(5));
        t.reset(ms(1));
        assertEquals(2, free());
        t.stop();
        t.stop();
        assertEquals(3, free());
        t.reset(ms(1));
        t.stop();
        t.reset(ms(1));
        t.cancel();
        t.cancel();
        assertEquals(3, free());
        Timer stoppedThenCancelled = bounded.after(ms(1), () -> {});
        stoppedThenCancelled.stop();
        stoppedThenCancelled.cancel();
        assertEquals(3, free());
    }

    @Test
    void maxPending_resetInOwnCallback_takesAPermit() {
        AtomicReference<Timer> self = new AtomicReference<>();
        List<Integer> seen = new ArrayList<>();
        self.set(bounded.after(ms(1), () -> {
            seen.add(free());
            self.get().reset(ms(1));
            Timer a = bounded.after(ms(9), () -> {});
            Timer b = bounded.after(ms(9), () -> {});
            assertThrows(RejectedExecutionException.class, () -> bounded.after(ms(9), () -> {}));
            self.get().stop();
            Timer c = bounded.after(ms(9), () -> {});
            assertThrows(RejectedExecutionException.class, () -> self.get().reset(ms(1)));
            assertFalse(self.get().isPending());
            List.of(a, b, c).forEach(Timer::stop);
            seen.add(free());
        }));
        advance(1);
        assertEquals(List.of(3, 3), seen);
        assertEquals(3, free());
    }

    @Test
    void maxPending_ticker_holdsOnePermitUntilStopped() {
        Ticker k = bounded.every(ms(1), runs::incrementAndGet);
        clock.advance(ms(5));
        assertEquals(5, runs.get());
        assertEquals(2, free());
        k.reset(ms(2));
        assertEquals(2, free());
        k.stop();
        assertEquals(3, free());
        k.reset(ms(2));
        k.close();
        assertEquals(3, free());
    }

    @Test
    void maxPending_shutdown_givesAllBack() {
        PendingLimit limit = new PendingLimit(3);
        Fixtures.Rig rig = new Fixtures.Rig(false, limit);
        rig.arm(5);
        rig.drain();
        rig.arm(6);
        rig.arm(1);
        OneShotTimer running = (OneShotTimer) rig.claim(1).node();
        rig.queue.reset(running, 9);
        assertEquals(3, limit.held());
        List<TimerNode> unfired = new ArrayList<>();
        rig.queue.closer.close(unfired);
        rig.queue.closer.collectRunning(running, unfired);
        rig.queue.endRun(running);
        assertEquals(3, unfired.size());
        assertEquals(0, limit.held());
        assertThrows(RejectedExecutionException.class, () -> rig.queue.reset(running, 9));
        assertEquals(0, limit.held());
    }
}
