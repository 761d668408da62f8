package io.pendula.examples;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.Scale;
import io.pendula.Timer;
import io.pendula.TimerGroup;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerScheduler;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.CountDownLatch;
import java.util.Collections;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

    // ---- one timer for each key ----

    @Test
    void keyedTimers_startedAgain_onlyTheLastTaskRuns() {
        KeyedTimers<String> keyed = new KeyedTimers<>(timers);
        List<String> ran = new ArrayList<>();
        assertFalse(keyed.start("a", ofSeconds(10), () -> ran.add("a1")));
        assertFalse(keyed.start("b", ofSeconds(10), () -> ran.add("b")));
        clock.advance(ofSeconds(9));
        assertTrue(keyed.start("a", ofSeconds(10), () -> ran.add("a2")));
        assertEquals(2, timers.pending());
        clock.advance(ofSeconds(9));
        assertEquals(List.of("b"), ran);
        clock.advance(ofSeconds(1));
        assertEquals(List.of("b", "a2"), ran);
        assertFalse(keyed.cancel("a"), "the entry went with the firing");
        assertFalse(keyed.start("a", ofSeconds(1), () -> ran.add("a3")), "and nothing is left to replace");
        assertTrue(keyed.cancel("a"));
        assertEquals(0, timers.pending());
    }

    /** The executor holds the callback back between the firing and the run. */
    @Test
    void keyedTimers_startedAgainBetweenFiringAndRun_onlyTheLastTaskRuns() {
        List<Runnable> handedOver = new ArrayList<>();
        List<String> ran = new ArrayList<>();
        try (TimerScheduler timers = TimerScheduler.builder().clock(clock).executor(handedOver::add).build()) {
            KeyedTimers<String> keyed = new KeyedTimers<>(timers);
            keyed.start("a", ofSeconds(1), () -> ran.add("a1"));
            clock.advance(ofSeconds(1));
            assertTrue(keyed.start("a", ofSeconds(1), () -> ran.add("a2")));
            clock.advance(ofSeconds(1));
            handedOver.forEach(Runnable::run);
            assertEquals(List.of("a2"), ran);
        }
    }

    @Test
    void keyedTimers_taskStartsItsKeyAgain_goesOn() {
        KeyedTimers<String> keyed = new KeyedTimers<>(timers);
        keyed.start("a", ofSeconds(1), () -> {
            note();
            assertFalse(keyed.start("a", ofSeconds(2), this::note));
        });
        clock.advance(ofSeconds(10));
        assertEquals(List.of(1000L, 3000L), at);
    }

    /** Each task that was started has one end: it runs, or a start or a cancel returns true. */
    @Test
    void keyedTimers_firingsRaceWithStartsAndCancels_eachTaskHasOneEnd() throws InterruptedException {
        int threads = 3;
        int starts = Scale.of(5_000, 100_000);
        Semaphore ends = new Semaphore(0);
        List<Thread> racing = new ArrayList<>();
        try (TimerScheduler own = TimerScheduler.builder().workers(2).build()) {
            KeyedTimers<Integer> keyed = new KeyedTimers<>(own);
            for (int t = 0; t < threads; t++) {
                int seed = t;
                racing.add(new Thread(() -> {
                    SplittableRandom random = new SplittableRandom(seed);
                    for (int i = 0; i < starts; i++) {
                        int key = random.nextInt(4);
                        if (keyed.start(key, Duration.ofNanos(random.nextInt(50_000)), ends::release)) {
                            ends.release();
                        }
                        if (random.nextInt(4) == 0 && keyed.cancel(key)) {
                            ends.release();
                        }
                    }
                }));
            }
            racing.forEach(Thread::start);
            assertTrue(ends.tryAcquire(threads * starts, 100, TimeUnit.SECONDS), ends::toString);
            for (Thread thread : racing) {
                thread.join();
            }
        }
        assertEquals(0, ends.availablePermits());
    }

    // ---- many events, one run ----

    @Test
    void debouncer_burst_runsOnceWhenItIsOver() {
        try (Debouncer d = new Debouncer(timers, ofMillis(100), ofMinutes(1), this::note)) {
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
    void debouncer_eventsDoNotEnd_runsAfterTheLongestWaitOfEachSeries() {
        try (Debouncer d = new Debouncer(timers, ofMillis(100), ofMillis(250), this::note)) {
            for (int i = 0; i < 20; i++) {
                d.event();
                clock.advance(ofMillis(30));
            }
            assertEquals(List.of(250L, 520L), at, "the second series began at 270");
            clock.advance(ofSeconds(1));
            assertEquals(List.of(250L, 520L, 670L), at, "the last event came at 570");
        }
    }

    @Test
    void debouncer_eventInTheAction_beginsAnotherSeries() {
        List<Debouncer> self = new ArrayList<>();
        try (Debouncer d = new Debouncer(timers, ofMillis(100), ofMinutes(1), () -> {
            note();
            if (at.size() == 1) {
                self.get(0).event();
            }
        })) {
            self.add(d);
            d.event();
            clock.advance(ofSeconds(1));
            assertEquals(List.of(100L, 200L), at);
        }
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

    // ---- pause and resume ----

    @Test
    void pausableTicker_paused_keepsTheTimeThatIsLeft() {
        PausableTicker t = new PausableTicker(timers, ofSeconds(10), this::note);
        clock.advance(ofSeconds(24));
        t.pause();
        t.pause();
        assertEquals(0, timers.pending());
        clock.advance(ofMinutes(1));
        t.resume();
        t.resume();
        clock.advance(ofSeconds(20));
        assertEquals(List.of(10_000L, 20_000L, 90_000L, 100_000L), at, "6 s were left");
        t.pause();
    }

    @Test
    void pausableTicker_pausedByItsTask_continuesOnePeriodAfterTheResume() {
        List<PausableTicker> self = new ArrayList<>();
        PausableTicker t = new PausableTicker(timers, ofSeconds(10), () -> {
            note();
            self.get(0).pause();
        });
        self.add(t);
        clock.advance(ofSeconds(30));
        assertEquals(List.of(10_000L), at);
        t.resume();
        clock.advance(ofSeconds(30));
        assertEquals(List.of(10_000L, 40_000L), at);
    }

    /** The executor holds the callback back between the firing and the run. */
    @Test
    void pausableTicker_pausedAndResumedBetweenFiringAndRun_runsOnceAndNeverOverlaps() {
        List<Runnable> handedOver = new ArrayList<>();
        try (TimerScheduler timers = TimerScheduler.builder().clock(clock).executor(handedOver::add).build()) {
            PausableTicker t = new PausableTicker(timers, ofSeconds(10), this::note);
            clock.advance(ofSeconds(10));
            t.pause();
            clock.advance(ofSeconds(3));
            t.resume();
            clock.advance(ofSeconds(5));
            assertEquals(1, handedOver.size(), "the run is not over");
            handedOver.remove(0).run();
            clock.advance(ofSeconds(2));
            assertEquals(0, handedOver.size());
            clock.advance(ofSeconds(3));
            handedOver.remove(0).run();
            assertEquals(List.of(18_000L, 23_000L), at, "ticks are due at 10 s and, after a pause of 3 s, at 23 s");
        }
    }

    @Test
    void pausableTicker_missedTicks_areSkipped() {
        List<Runnable> handedOver = new ArrayList<>();
        try (TimerScheduler timers = TimerScheduler.builder().clock(clock).executor(handedOver::add).build()) {
            new PausableTicker(timers, ofSeconds(10), this::note);
            clock.advance(ofSeconds(34));
            handedOver.remove(0).run();
            clock.advance(ofSeconds(6));
            handedOver.remove(0).run();
            assertEquals(List.of(34_000L, 40_000L), at);
        }
    }

    @Test
    void timer_stopped_keepsTheTimeThatIsLeft() {
        Timer timer = timers.after(ofSeconds(10), this::note);
        clock.advance(ofSeconds(4));

        Duration left = timer.remaining();
        boolean paused = timer.stop();      // false: it has fired

        clock.advance(ofMinutes(1));
        assertTrue(paused);
        assertEquals(List.of(), at);
        timer.reset(left);
        clock.advance(ofSeconds(7));
        assertEquals(List.of(70_000L), at);
    }

    // ---- tickers that end ----

    @Test
    void times_lastRunThrows_thatManyRuns() {
        TimerGroup group = Repeat.times(timers, 3, ofSeconds(1), () -> {
            note();
            if (at.size() == 3) {
                throw new IllegalStateException("meant");
            }
        });
        clock.advance(ofMinutes(1));
        assertEquals(List.of(1000L, 2000L, 3000L), at);
        assertEquals(0, timers.pending());
        assertEquals(0, group.cancel());
    }

    @Test
    void during_limitOrClose_endsIt() {
        Repeat.during(timers, ofMillis(2500), ofSeconds(1), this::note);
        clock.advance(ofMinutes(1));
        assertEquals(List.of(1000L, 2000L), at);
        TimerGroup closed = Repeat.during(timers, ofMillis(2500), ofSeconds(1), this::note);
        assertEquals(2, closed.cancel());
        assertEquals(0, timers.pending());
    }

    // ---- a deadline for all calls of a request ----

    @Test
    void deadline_handedDown_shrinks() throws Exception {
        Deadline request = Deadline.in(timers, ofSeconds(10));
        clock.advance(ofSeconds(4));
        assertEquals(ofSeconds(6), request.remaining());
        assertEquals(ofSeconds(1), request.within(ofSeconds(1)).remaining());
        assertEquals(ofSeconds(6), request.within(ofSeconds(60)).remaining());
        request.check();
        CompletableFuture<String> call = request.limit(new CompletableFuture<>());
        clock.advance(ofSeconds(6).minusNanos(1));
        assertFalse(call.isDone());
        clock.advance(Duration.ofNanos(1));
        assertInstanceOf(TimeoutException.class, assertThrows(CompletionException.class, call::join).getCause());
        assertEquals(Duration.ZERO, request.remaining());
        assertThrows(TimeoutException.class, request::check);
        assertThrows(ArithmeticException.class, () -> Deadline.in(timers, Duration.ofDays(365_000)));
    }

    // ---- time in which the machine is suspended ----

    @Test
    void scheduleOfOneInstant_suspension_counts() {
        Instant[] now = {Instant.EPOCH};
        InstantSource wall = () -> now[0];
        Runnable task = this::note;

        Instant due = wall.instant().plus(Duration.ofMinutes(10));
        timers.schedule(after -> after.isBefore(due) ? due : null, wall, task);

        now[0] = now[0].plus(ofMinutes(1));
        clock.advance(ofMinutes(1));
        assertEquals(List.of(), at);
        now[0] = now[0].plus(Duration.ofHours(1)); // suspended: the monotonic clock stood still
        clock.advance(ofMinutes(1));
        assertEquals(1, at.size());
        clock.advance(Duration.ofHours(1));
        assertEquals(1, at.size());
        assertEquals(0, timers.pending());
    }
}
