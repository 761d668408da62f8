package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.InsideInbox;

import io.pendula.internal.queue.PendingLimit;
import io.pendula.Fixtures.Claim;
import io.pendula.Fixtures.Rig;
import io.pendula.Fixtures.SteppedTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** First tick and period of a ticker change together. The clock of these queues stands still at 1. */
class TickerResetTest {
    private static final long FAR = 1_000_000;

    private Rig rig = new Rig(false);

    private static Duration ns(long nanos) {
        return Duration.ofNanos(nanos);
    }

    private PeriodicTimer every(long period) {
        PeriodicTimer t = new PeriodicTimer(rig.queue, () -> {}, period, MissedTicks.BURST);
        rig.queue.arm(t, 1 + period);
        rig.drain();
        return t;
    }

    /** The deadlines of the next ticks. */
    private List<Long> ticks(PeriodicTimer t, int n) {
        List<Long> deadlines = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            Claim run = rig.claim(FAR / 2);
            assertSame(t, run.node());
            deadlines.add(run.deadline);
            rig.queue.endRun(t);
        }
        return deadlines;
    }

    /** A reset to an earlier deadline; {@code step} happens before that changes the word. */
    private boolean reset(PeriodicTimer t, long period, Runnable step) {
        SteppedTimer stepped = new SteppedTimer(rig.queue);
        rig.queue.arm(stepped, FAR);
        for (int i = 1; i < InsideInbox.HELP_DEPTH; i++) {
            rig.arm(FAR);
        }
        stepped.stepInAfter(1, step); // when the reset helps to drain
        boolean replaced = t.reset(ns(period));
        assertTrue(stepped.isPassed());
        return replaced;
    }

    @Test
    void reset_anotherResetInside_theLastOneCounts() {
        PeriodicTimer t = every(1_000);
        boolean[] inner = new boolean[1];
        assertTrue(reset(t, 30, () -> inner[0] = t.reset(ns(70))));
        assertTrue(inner[0]);
        assertTrue(t.toString().contains(", every 30 ns, due in "), t::toString);
        assertEquals(List.of(31L, 61L, 91L), ticks(t, 3));
        assertTrue(t.toString().contains(", every 30 ns, due in "), t::toString);
    }

    @Test
    void reset_twoOthersInside_theLastOneCounts() {
        PeriodicTimer t = every(1_000);
        assertTrue(reset(t, 30, () -> {
            t.reset(ns(500));
            t.reset(ns(40));
        }));
        t.reset(ns(200));
        assertEquals(List.of(201L, 401L), ticks(t, 2));
    }

    @Test
    void reset_tickInside_nextTickIsItsFirst() {
        PeriodicTimer t = every(100);
        assertTrue(reset(t, 30, () -> assertEquals(List.of(101L), ticks(t, 1))));
        assertEquals(List.of(31L, 61L), ticks(t, 2));
    }

    @Test
    void reset_claimedAndRunning_nextTickIsItsFirst() {
        PeriodicTimer t = every(100);
        Claim run = rig.claim(101);
        assertTrue(t.reset(ns(30)));
        assertTrue(t.reset(ns(50)));
        rig.queue.endRun(run.node());
        assertEquals(List.of(51L, 101L), ticks(t, 2));
    }

    /** The first tick of the reset is due when the one that it replaces was. */
    @Test
    void reset_sameFirstTick_hasTheNewPeriod() {
        ManualClock clock = new ManualClock();
        try (TimerScheduler timers = TimerScheduler.builder().clock(clock).build()) {
            List<Long> at = new ArrayList<>();
            Ticker t = timers.every(ns(10), () -> at.add(clock.nanoTime()));
            clock.advance(ns(4));
            t.reset(ns(6));
            clock.advance(ns(12));
            assertTrue(t.reset(ns(6)));
            clock.advance(ns(2));
            assertTrue(t.reset(ns(4)));
            clock.advance(ns(12));
            assertEquals(List.of(10L, 16L, 22L, 26L, 30L), at);
        }
    }

    @Test
    void reset_rejectedForMaxPending_leavesTheOldPeriod() {
        rig = new Rig(false, new PendingLimit(1));
        PeriodicTimer t = every(100);
        assertTrue(t.stop());
        OneShotTimer other = rig.arm(FAR);
        assertThrows(RejectedExecutionException.class, () -> t.reset(ns(30)));
        assertTrue(t.toString().endsWith(", every 100 ns, not pending]"), t::toString);
        assertTrue(rig.queue.stop(other));
        assertFalse(t.reset(ns(40)));
        assertEquals(List.of(41L, 81L), ticks(t, 2));
    }

    @Test
    void reset_rejectedOrCancelled_leavesTheOldPeriod() {
        PeriodicTimer t = every(100);
        PeriodicTimer cancelled = every(100);
        cancelled.close();
        assertThrows(IllegalStateException.class, () -> cancelled.reset(ns(30)));
        assertEquals("Ticker[cancelled, every 100 ns]", cancelled.toString());
        rig.queue.closer.close(new ArrayList<>());
        assertThrows(RejectedExecutionException.class, () -> t.reset(ns(30)));
        assertTrue(t.toString().endsWith(", every 100 ns, not pending]"), t::toString);
    }

    @Test
    void reset_manyTimesBetweenTicks_theLastOneCounts() {
        PeriodicTimer t = every(100);
        for (int i = 1; i <= 1_000; i++) {
            t.reset(ns(i));
        }
        assertEquals(List.of(1_001L, 2_001L), ticks(t, 2));
        t.reset(ns(90));
        t.reset(ns(30));
        assertEquals(List.of(31L, 61L, 91L, 121L), ticks(t, 4));
    }
}
