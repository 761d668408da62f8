package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Fixtures.ThrownListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Ticks beside the grid. */
@Timeout(60)
class TickNowTest {
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

    private void advance(long millis) {
        clock.advance(ms(millis));
        assertEquals(List.of(), listener.thrown);
    }

    @ParameterizedTest
    @EnumSource
    void tickNow_betweenTwoTicks_theGridStays(MissedTicks policy) {
        Ticker k = timers.every(ms(10), policy, this::tick);
        advance(13);
        assertTrue(k.tickNow());
        assertEquals(List.of(10L), ticks, "never inside the call");
        advance(0);
        advance(4);
        assertTrue(k.tickNow());
        advance(13);
        assertEquals(List.of(10L, 13L, 17L, 20L, 30L), ticks);
        assertEquals(0, k.missed());
    }

    @Test
    void tickNow_beforeTheFirstTick_theGridBeginsAllTheSame() {
        Ticker k = timers.every(ms(50), ms(10), this::tick);
        assertTrue(k.tickNow());
        advance(60);
        assertEquals(List.of(0L, 50L, 60L), ticks);
    }

    @Test
    void tickNow_severalTimesBeforeItRuns_isOneRun() {
        Ticker k = timers.every(ms(10), this::tick);
        advance(13);
        assertTrue(k.tickNow());
        assertTrue(k.tickNow());
        advance(7);
        assertEquals(List.of(10L, 13L, 20L), ticks);
    }

    @Test
    void tickNow_twiceAtOneInstant_runsTwiceIfTheFirstHasRun() {
        Ticker k = timers.every(ms(10), this::tick);
        for (int i = 0; i < 2; i++) {
            k.tickNow();
            advance(0);
        }
        advance(10);
        assertEquals(List.of(0L, 0L, 10L), ticks);
    }

    @Test
    void tickNow_byTheOwnCallback_followsWhenThatHasReturned() {
        AtomicReference<Ticker> own = new AtomicReference<>();
        own.set(timers.every(ms(10), () -> {
            tick();
            if (ticks.size() == 1) {
                assertTrue(own.get().tickNow());
                assertEquals(1, ticks.size());
            }
        }));
        advance(20);
        assertEquals(List.of(10L, 10L, 20L), ticks);
    }

    @Test
    void tickNow_stopped_isFalseAndNothingRuns() {
        Ticker k = timers.every(ms(10), this::tick);
        k.stop();
        assertFalse(k.tickNow());
        advance(20);
        k.cancel();
        assertFalse(k.tickNow());
        Ticker other = timers.every(ms(10), this::tick);
        timers.close();
        assertFalse(other.tickNow());
        assertEquals(List.of(), ticks);
    }

    @Test
    void tickNow_stoppedBeforeItRuns_doesNotRun() {
        Ticker k = timers.every(ms(10), this::tick);
        assertTrue(k.tickNow());
        assertTrue(k.stop());
        advance(5);
        k.reset(ms(10));
        advance(10);
        assertEquals(List.of(15L), ticks);
    }

    @Test
    void tickNow_resetBeforeItRuns_isReplaced() {
        Ticker k = timers.every(ms(10), this::tick);
        assertTrue(k.tickNow());
        assertTrue(k.reset(ms(7)));
        advance(15);
        assertTrue(k.tickNow());
        advance(6);
        assertEquals(List.of(7L, 14L, 15L, 21L), ticks);
    }

    @Test
    void tickNow_tickIsDue_isThatTick() {
        TimerLoop loop = timers.attach(() -> {});
        Ticker k = loop.every(ms(10), this::tick);
        clock.advance(ms(12));
        assertTrue(k.tickNow());
        assertEquals(1, loop.runDue());
        clock.advance(ms(8));
        assertEquals(1, loop.runDue());
        assertEquals(List.of(12L, 20L), ticks);
    }

    @Test
    void tickNow_runsAfterTheGridsNextHasPassed_bothRun() {
        TimerLoop loop = timers.attach(() -> {});
        List<Long> late = new ArrayList<>();
        AtomicReference<Ticker> own = new AtomicReference<>();
        own.set(loop.every(ms(10), () -> late.add(own.get().latenessNanos() / 1_000_000)));
        clock.advance(ms(3));
        assertTrue(own.get().tickNow());
        clock.advance(ms(9));
        loop.runDue();
        loop.runDue();
        assertEquals(List.of(9L, 2L), late);
        assertEquals(0, own.get().missed());
    }

    @Test
    void tickNow_neverDue_runsOnce() {
        Ticker k = timers.every(Duration.ofSeconds(Long.MAX_VALUE), this::tick);
        assertTrue(k.tickNow());
        advance(100);
        assertEquals(List.of(0L), ticks);
        assertTrue(k.isPending());
        assertEquals(Long.MAX_VALUE, k.remaining().toNanos());
    }

    @Test
    void tickNow_bySeveralThreads_neverOverlapsAndTheLastIsSeen() throws InterruptedException {
        try (TimerScheduler real = TimerScheduler.builder().workers(2).build()) {
            AtomicInteger running = new AtomicInteger();
            AtomicInteger overlaps = new AtomicInteger();
            int[] asked = {0, 0}; // plain: a tick sees what was written before it was asked for
            CountDownLatch seen = new CountDownLatch(1);
            Ticker k = real.every(Duration.ofHours(1), () -> {
                overlaps.addAndGet(running.getAndIncrement());
                if (asked[0] == 2_000 && asked[1] == 2_000) {
                    seen.countDown();
                }
                running.decrementAndGet();
            });
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                int mine = t;
                Thread thread = new Thread(() -> {
                    for (int i = 1; i <= 2_000; i++) {
                        asked[mine] = i;
                        k.tickNow();
                    }
                });
                threads.add(thread);
                thread.start();
            }
            seen.await();
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(0, overlaps.get());
        }
    }
}
