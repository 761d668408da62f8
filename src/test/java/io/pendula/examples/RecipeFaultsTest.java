package io.pendula.examples;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerScheduler;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;

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

    private TimerScheduler.Builder ofOneTimer() {
        return TimerScheduler.builder().clock(clock).maxPending(1).listener(new TimerListener() {
            @Override
            public void threw(TimerHandle timer, long latenessNanos, Throwable t) {
                thrown.add(t);
            }
        });
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
        try (TimerScheduler full = ofOneTimer().build(); AsyncRepeater repeater = new AsyncRepeater(full, ofSeconds(1), () -> {
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
        try (TimerScheduler full = ofOneTimer().build(); AsyncRepeater repeater = new AsyncRepeater(full, ofSeconds(1), () -> {
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
    void pausableTicker_limitIsReachedBetweenFiringAndRun_isReportedAndEnds() {
        List<Runnable> handedOver = new ArrayList<>();
        try (TimerScheduler full = ofOneTimer().executor(handedOver::add).build()) {
            new PausableTicker(full, ofSeconds(1), this::note);
            clock.advance(ofSeconds(1));
            full.after(ofHours(1), () -> {});
            handedOver.remove(0).run();
            clock.advance(ofMinutes(1));
            assertEquals(List.of(), at);
            assertOneRefusal();
        }
    }

    @Test
    void keyedTimers_newTaskIsRefused_oldOneRuns() {
        try (TimerScheduler full = ofOneTimer().build()) {
            KeyedTimers<String> keyed = new KeyedTimers<>(full);
            keyed.start("a", ofSeconds(1), this::note);
            assertThrows(RejectedExecutionException.class, () -> keyed.start("a", ofSeconds(2), () -> {}));
            assertThrows(RejectedExecutionException.class, () -> keyed.start("b", ofSeconds(2), () -> {}));
            assertFalse(keyed.cancel("b"));
            clock.advance(ofSeconds(1));
            assertEquals(List.of(1000L), at);
        }
    }

    @Test
    void debouncer_refusedForMaxPending_mayBeCalledAgain() {
        try (TimerScheduler full = ofOneTimer().build();
                Debouncer d = new Debouncer(full, ofMillis(100), ofSeconds(1), this::note)) {
            full.after(ofMillis(1), () -> {});
            assertThrows(RejectedExecutionException.class, d::event);
            clock.advance(ofMillis(1));
            d.event();
            clock.advance(ofSeconds(1));
            assertEquals(List.of(101L), at);
        }
    }
}
