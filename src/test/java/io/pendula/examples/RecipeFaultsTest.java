package io.pendula.examples;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerScheduler;

import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.random.RandomGenerator;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the recipes do when what they are given fails, or the scheduler refuses a timer. */
@Timeout(60)
@SuppressWarnings("try") // a clock or repeater that is only opened and closed
class RecipeFaultsTest {
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).build();
    private final InstantSource wall = () -> Instant.ofEpochSecond(0, clock.nanoTime());
    private final List<Long> at = new ArrayList<>();
    /** By listeners, and by the handler of this thread, which runs the callbacks. */
    private final List<Throwable> thrown = new ArrayList<>();

    @BeforeEach
    void listen() {
        Thread.currentThread().setUncaughtExceptionHandler((thread, e) -> thrown.add(e));
    }

    @AfterEach
    void close() {
        Thread.currentThread().setUncaughtExceptionHandler(null);
        timers.close();
    }

    private void note() {
        at.add(clock.nanoTime() / 1_000_000);
    }

    private TimerScheduler ofOneTimer() {
        return TimerScheduler.builder().clock(clock).maxPending(1).listener(new TimerListener() {
            @Override
            public void threw(TimerHandle timer, long latenessNanos, Throwable t) {
                thrown.add(t);
            }
        }).build();
    }

    private void assertOneRefusal() {
        assertEquals(1, thrown.size(), thrown::toString);
        assertEquals(RejectedExecutionException.class, thrown.get(0).getClass());
    }

    // ---- a limit that others reach while a recipe runs ----

    @Test
    void throttle_refusedForMaxPending_nextEventRunsAtOnce() {
        List<String> ran = new ArrayList<>();
        try (TimerScheduler full = TimerScheduler.builder().clock(clock).maxPending(1).build();
                Throttle t = new Throttle(full, ofMillis(100), () -> ran.add("ran"))) {
            full.after(ofMillis(1), () -> {});
            assertThrows(RejectedExecutionException.class, t::event);
            clock.advance(ofMillis(1));
            t.event();
            clock.advance(ZERO);
            assertEquals(List.of("ran"), ran);
        }
    }

    @Test
    void throttle_longestInterval_runsOnce() {
        List<String> ran = new ArrayList<>();
        try (Throttle t = new Throttle(timers, ofNanos(Long.MAX_VALUE), () -> ran.add("ran"))) {
            for (int i = 0; i < 3; i++) {
                clock.advance(ofMillis(1));
                t.event();
            }
            clock.advance(ofHours(1));
            assertEquals(List.of("ran"), ran);
        }
    }

    @Test
    void asyncRepeater_limitIsReachedMeanwhile_isReportedAndEnds() {
        try (TimerScheduler full = ofOneTimer(); AsyncRepeater repeater = new AsyncRepeater(full, ofSeconds(1), () -> {
            note();
            full.after(ofHours(1), () -> {});
            return CompletableFuture.completedFuture("x");
        })) {
            clock.advance(ofMinutes(1));
            assertEquals(List.of(0L), at);
            assertOneRefusal();
        }
    }

    /** Both are reported. */
    @Test
    void asyncRepeater_limitIsReachedByATaskThatThrows_isReportedBesideWhatWasThrown() {
        IllegalStateException e = new IllegalStateException("meant");
        try (TimerScheduler full = ofOneTimer(); AsyncRepeater repeater = new AsyncRepeater(full, ofSeconds(1), () -> {
            full.after(ofHours(1), () -> {});
            throw e;
        })) {
            clock.advance(ofMinutes(1));
            assertTrue(thrown.remove(e), thrown::toString);
            assertOneRefusal();
        }
    }

    @Test
    void asyncRepeater_schedulerIsClosedMeanwhile_endsWithoutAReport() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        try (AsyncRepeater repeater = new AsyncRepeater(timers, ofSeconds(1), () -> stage)) {
            clock.advance(ZERO);
            timers.close();
            stage.complete("x");
            assertEquals(List.of(), thrown);
        }
    }

    @Test
    void sleepProofTimer_limitIsReachedMeanwhile_isReportedAndEnds() {
        boolean[] fills = {false};
        try (TimerScheduler full = ofOneTimer()) {
            InstantSource filling = () -> {
                if (fills[0]) {
                    fills[0] = false;
                    full.after(ofHours(1), () -> {});
                }
                return wall.instant();
            };
            try (SleepProofTimer t = new SleepProofTimer(full, filling, ofMinutes(1), this::note)) {
                fills[0] = true;
                clock.advance(ofMinutes(5));
                assertEquals(List.of(), at);
                assertOneRefusal();
            }
        }
    }

    // ---- what a recipe is given fails ----

    @Test
    void retry_pauseCannotBeDrawnOrArmed_failsAsTheOperationDid() {
        RandomGenerator even = new SplittableRandom(1);
        RandomGenerator broken = () -> {
            throw new IllegalStateException("meant");
        };
        try (TimerScheduler refusing = TimerScheduler.builder().clock(clock).decorate(task -> {
            throw new IllegalStateException("meant");
        }).build()) {
            List<Retry> retries = List.of(
                    new Retry(timers, even, 3, ofMillis(-1), ofSeconds(1)),
                    new Retry(timers, even, 3, ofNanos(Long.MAX_VALUE), ofNanos(Long.MAX_VALUE)),
                    new Retry(timers, broken, 3, ofMillis(100), ofSeconds(1)),
                    new Retry(refusing, even, 3, ofMillis(100), ofSeconds(1)));
            for (Retry retry : retries) {
                IOException e = new IOException("meant");
                CompletableFuture<String> result = retry.call(() -> CompletableFuture.failedFuture(e));
                assertTrue(result.isDone(), retry::toString);
                assertSame(e, assertThrows(CompletionException.class, result::join).getCause());
                assertEquals(1, e.getSuppressed().length, retry::toString);
            }
        }
    }
}
