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

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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

    // ---- groups ----

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
