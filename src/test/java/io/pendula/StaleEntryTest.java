package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.Compactor;
import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.TimerState;
import io.pendula.Fixtures.CountingOwner;
import io.pendula.Fixtures.Rig;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Entries that are counted stale: a sweep can drop each of them, whatever has happened to their timers; sweeps end; and
 * a stopped timer is let go after a while even if few entries are stale.
 */
class StaleEntryTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long HOUR = 3_600 * SECOND;

    private final Rig rig = new Rig(false);
    private final TimerQueue queue = rig.queue;

    private List<OneShotTimer> armMany(int n, LongUnaryOperator when) {
        List<OneShotTimer> timers = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            timers.add(rig.arm(when.applyAsLong(i)));
        }
        rig.drain();
        return timers;
    }

    private void resetAll(List<OneShotTimer> timers, LongUnaryOperator when) {
        for (int i = 0; i < timers.size(); i++) {
            queue.reset(timers.get(i), when.applyAsLong(i));
        }
        rig.drain();
    }

    /** Puts the owner to sleep and returns how many chunks it swept before, at most {@code most}. */
    private int sweepsBeforeSleep(long now, int most) {
        int steps = 0;
        while (steps < most) {
            long until = queue.due.prepareToSleep(rig.owner, now);
            if (until == DueTimers.RETRY) {
                steps++;
                continue;
            }
            if (!queue.compactor.wantsSweep()) {
                return steps;
            }
            while (steps < most && queue.compactor.sweepStep()) {
                steps++;
            }
            steps++;
        }
        return steps;
    }

    private void assertGoesToSleep(long now) {
        int passes = 2 * (rig.entries() / Compactor.SWEEP_CHUNK + 2);
        int tops = rig.entries() / Compactor.CLEAN_CHUNK + 2; // all may have been put off
        assertTrue(sweepsBeforeSleep(now, passes + tops + 1) <= passes + tops, "it sweeps for ever");
        assertTrue(rig.isAsleep());
        assertTrue(rig.dead() <= bound(), rig.dead() + " dead of " + rig.entries());
    }

    /** With more stale entries the owner sweeps. */
    private int bound() {
        return Math.max(Compactor.STALE_FLOOR, rig.entries() / 4);
    }

    /** One pass, as a late sweep does it. */
    private void sweepAll() {
        Inside.startThoroughSweep(queue);
        for (int chunks = rig.entries() / Compactor.SWEEP_CHUNK; chunks >= 0; chunks--) {
            queue.compactor.sweepStep();
        }
    }

    @Test
    void sweep_broughtForwardAndPutOffAgain_dropsEachEntryThatIsCountedDead() {
        List<OneShotTimer> timers = armMany(10_000, i -> HOUR + i);
        withoutHelp(() -> {
            for (int i = 0; i < timers.size(); i++) {
                queue.reset(timers.get(i), SECOND + i);
            }
        });
        rig.drain();
        resetAll(timers, i -> 2 * HOUR + i);
        assertEquals(10_000, rig.dead());
        assertGoesToSleep(1);
        assertTrue(rig.dead() <= Compactor.STALE_FLOOR, "a thorough sweep goes to the end");
        sweepAll();
        assertEquals(0, rig.dead());
        assertEquals(10_000, rig.entries());
        assertEquals(10_000, queue.view().pending());
    }

    @Test
    void sweep_offAndOnAgain_leavesOneEntryForEachTimer() {
        List<OneShotTimer> timers = armMany(500, i -> SECOND + i);
        for (int cycle = 0; cycle < 20; cycle++) {
            long soon = (20 - cycle) * SECOND;
            resetAll(timers, i -> Timeline.NEVER);
            sweepAll(); // gives the entries their true keys, if a sweep does so
            resetAll(timers, i -> soon + i);
            resetAll(timers, i -> Timeline.NEVER);
            queue.stop(timers.get(0));
            queue.reset(timers.get(0), 1);
            rig.drain();
        }
        sweepAll();
        assertEquals(0, rig.dead());
        assertEquals(500, rig.entries());
    }

    /** A clock that ticks in milliseconds brings timers back to deadlines for which a stale entry is still there. */
    @Test
    void sweep_sameTwoDeadlinesInTurn_leavesOneEntryForEachTimer() {
        List<OneShotTimer> timers = armMany(2_000, i -> HOUR);
        for (int cycle = 0; cycle < 10; cycle++) {
            resetAll(timers, i -> SECOND);
            surface(SECOND - 1);
            resetAll(timers, i -> HOUR);
            surface(SECOND);
        }
        assertGoesToSleep(SECOND);
        sweepAll();
        assertEquals(0, rig.dead());
        assertEquals(2_000, rig.entries());
        assertEquals(2_000, rig.fire(HOUR));
    }

    private void surface(long now) {
        assertEquals(0, rig.fire(now));
    }

    @Test
    void sweep_firedAndArmedForADeadlineOfBefore_leavesOneEntryForEachTimer() {
        List<OneShotTimer> timers = armMany(1_000, i -> Timeline.NEVER);
        for (int cycle = 1; cycle <= 10; cycle++) {
            long soon = cycle;
            resetAll(timers, i -> soon);
            assertEquals(1_000, rig.fire(soon));
            resetAll(timers, i -> Timeline.NEVER);
        }
        sweepAll();
        assertEquals(0, rig.dead());
        assertEquals(1_000, rig.entries());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void sleep_afterAnyHistory_sweepsNoMoreThanTwoPasses(long seed) {
        Random rnd = new Random(seed);
        long grain = rnd.nextBoolean() ? 1 : SECOND; // a coarse clock makes equal deadlines common
        List<OneShotTimer> timers = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            timers.add(rig.arm(HOUR + rnd.nextInt(100) * grain));
        }
        for (int phase = 0; phase < 12; phase++) {
            int kinds = 1 + rnd.nextInt(15);
            int share = 1 + rnd.nextInt(100);
            long base = rnd.nextInt(6) == 0 ? Timeline.NEVER : HOUR + rnd.nextInt(8) * HOUR;
            for (OneShotTimer t : timers) {
                if (rnd.nextInt(100) >= share) {
                    continue;
                }
                if ((kinds & 1) != 0 && rnd.nextInt(4) == 0) {
                    queue.stop(t);
                } else {
                    queue.reset(t, base == Timeline.NEVER ? base : base + rnd.nextInt(4) * grain);
                }
                if ((kinds & 2) != 0 && rnd.nextInt(500) == 0) {
                    rig.drain();
                }
                if ((kinds & 4) != 0 && rnd.nextInt(500) == 0) {
                    queue.compactor.sweepStep();
                }
            }
            if ((kinds & 8) != 0) {
                rig.drain();
            }
            assertGoesToSleep(1 + phase);
        }
        sweepAll();
        assertEquals(0, rig.dead());
        assertEquals(queue.view().pending(), rig.entries());
    }

    @Test
    void sweep_wholeHeapWithoutADeadEntry_isNotRepeatedBeforeMoreHaveDied() {
        List<OneShotTimer> timers = armMany(5_000, i -> HOUR + i);
        Inside.countStale(queue, 3_000 * Inside.STALE); // counted, though no sweep can find them
        assertTrue(queue.compactor.wantsSweep());
        assertTrue(sweepsBeforeSleep(1, 100) <= 12, "it sweeps for ever");
        assertTrue(rig.isAsleep());
        assertFalse(queue.compactor.wantsSweep());
        queue.stop(timers.get(4_000));
        assertTrue(queue.compactor.wantsSweep());
        assertTrue(sweepsBeforeSleep(1, 100) <= 12, "it sweeps for ever");
        assertEquals(1, queue.view().stats().staleDropped());
    }

    /** Sweeps one pass, before each chunk of which so many more are stopped; true if the next one is thorough. */
    private boolean isNextThorough(int perChunk) {
        List<OneShotTimer> timers = armMany(10_000, i -> 2 * HOUR - i); // none of them fits the fifo
        int[] stopped = new int[1];
        stopWithoutHelp(timers, stopped, 3_000);
        for (int left = timers.size(); left > 0; left -= Compactor.SWEEP_CHUNK) {
            stopWithoutHelp(timers, stopped, perChunk);
            queue.compactor.sweepStep();
        }
        assertTrue(rig.dead() > bound() / 2, rig.dead() + " left");
        queue.compactor.sweepStep();
        return Inside.isThorough(queue);
    }

    private void stopWithoutHelp(List<OneShotTimer> timers, int[] stopped, int n) {
        withoutHelp(() -> timers.subList(stopped[0], stopped[0] + n).forEach(queue::stop));
        stopped[0] += n;
    }

    @Test
    void sweep_someBecomeStaleMeanwhile_nextIsNotThorough() {
        assertFalse(isNextThorough(400));
        assertTrue(queue.view().stats().staleDropped() > 3_000);
    }

    @Test
    void sweep_mostBecomeStaleMeanwhile_nextIsThorough() {
        assertTrue(isNextThorough(700));
    }

    @Test
    void stop_fewOfMany_sweepsNothing() {
        List<OneShotTimer> timers = armMany(20_000, i -> HOUR + i);
        timers.subList(0, 3_000).forEach(queue::stop);
        assertEquals(3_000, rig.dead());
        assertEquals(0, queue.view().stats().staleDropped());
        timers.subList(3_000, 5_000).forEach(queue::stop);
        assertTrue(queue.view().stats().staleDropped() > 0, "it sweeps before a quarter is stale");
    }

    /** A thorough sweep takes longer than another one. */
    @Test
    void stop_lastSweepsWereInVain_sweepsThoroughlyForOneRound() {
        List<OneShotTimer> timers = armMany(10_000, i -> HOUR + i);
        Inside.countStale(queue, 1_900 * Inside.STALE); // counted, though no sweep can find them
        assertTrue(makeStaleWhile(() -> !Inside.isThorough(queue)));
        withoutHelp(() -> timers.subList(0, 1_000).forEach(queue::stop));
        assertTrue(makeStaleWhile(() -> Inside.isThorough(queue)), "it sweeps thoroughly for ever");
        assertEquals(1_000, queue.view().stats().staleDropped());
    }

    /** As threads do that stop timers; false if that has not ended when they have swept for the twentieth time. */
    private boolean makeStaleWhile(BooleanSupplier isOn) {
        for (int i = 0; i < 20 * Inside.TIDY_EVERY; i++) {
            if (!isOn.getAsBoolean()) {
                return true;
            }
            Inside.makeStale(queue);
        }
        return false;
    }

    // ---- late sweeps ----

    private static final long LATE = Compactor.LATE_NANOS;

    @Test
    void stop_filedAndNothingIsDueForHours_isLetGoAfterALateSweep() {
        OneShotTimer far = rig.arm(5 * HOUR);
        OneShotTimer stopped = rig.arm(6 * HOUR);
        long asleepUntil = rig.sleep(SECOND);
        assertTrue(queue.stop(stopped));
        sleepOnUntilSwept(asleepUntil);
        assertEquals(1, rig.entries());
        assertEquals(TimerState.REMOVED, rig.state(stopped));
        assertEquals(0, rig.owner.wakes);
        assertTrue(far.isPending());
    }

    /** The end of each sleep is the beginning of the next; returns the end of the last. */
    private long sleepOnUntilSwept(long now) {
        long until = now;
        while (rig.dead() > 0) {
            assertTrue(until <= now + LATE + 2 * SECOND, "not swept until " + until);
            long next = rig.sleep(until);
            assertTrue(next > until, "does not sleep at " + until);
            until = next;
        }
        return until;
    }

    @Test
    void stop_inTheInboxAndNothingIsDueForHours_isLetGo() {
        rig.arm(5 * HOUR);
        rig.sleep(SECOND);
        OneShotTimer stopped = rig.arm(6 * HOUR);
        queue.stop(stopped);
        assertEquals(0, rig.owner.wakes);
        rig.sleep(2 * SECOND);
        assertEquals(TimerState.REMOVED, rig.state(stopped));
    }

    @Test
    void stop_manyInTheInbox_wakesTheOwnerNever() {
        rig.arm(5 * HOUR);
        rig.sleep(SECOND);
        long now = SECOND;
        for (int i = 0; i < 1_000; i++) {
            now += SECOND / 100;
            queue.stop(rig.arm(6 * HOUR));
            if (!rig.isAsleep()) {
                rig.sleep(now);
            }
        }
        assertEquals(0, rig.owner.wakes);
    }

    @Test
    void stop_andNothingElseArmed_leavesOneLateSweepAndThenSleepsForEver() {
        List<OneShotTimer> timers = armMany(100, i -> HOUR + i);
        rig.sleep(SECOND);
        timers.forEach(queue::stop);
        assertEquals(Timeline.NEVER, sleepOnUntilSwept(2 * SECOND));
        assertEquals(0, rig.entries());
        assertEquals(0, rig.owner.wakes);
    }

    @Test
    void sleep_somethingArmed_endsWithinASecond_nothingArmed_never() {
        assertEquals(Timeline.NEVER, rig.sleep(SECOND / 2));
        rig.arm(5 * HOUR);
        assertEquals(2 * SECOND, rig.sleep(SECOND));
        rig.arm(6 * HOUR);
        assertEquals(3 * SECOND, rig.sleep(2 * SECOND + 1));
    }

    @Test
    void lateSweep_tookLong_isNotRepeatedForAThousandTimesAsLong() {
        List<OneShotTimer> timers = armMany(10_000, i -> 5 * HOUR + i);
        queue.stop(timers.get(9_000));
        long began = rig.sleep(SECOND);
        while (!queue.compactor.wantsSweep()) {
            assertTrue(began <= 2 * SECOND + LATE, "not swept until " + began);
            began = queue.due.prepareToSleep(rig.owner, began);
        }
        while (queue.compactor.wantsSweep()) {
            queue.compactor.sweepStep();
        }
        assertEquals(0, rig.dead());
        queue.stop(timers.get(9_001));
        rig.sleep(began + SECOND); // the pass took a second
        rig.sleep(began + Compactor.LATE_SHARE * SECOND);
        assertEquals(1, rig.dead());
    }

    /** A loop leaves in the inbox what it does not need; what was stopped there must go, too. */
    @Test
    void stop_inTheInboxOfALoop_isLetGoAfterALateDrain() {
        AskingOwner loop = new AskingOwner();
        Inside.setHome(queue, loop);
        rig.keepWith(loop);
        rig.drain();
        OneShotTimer stopped = rig.arm(6 * HOUR);
        queue.stop(stopped);
        long until = queue.due.prepareToWait(loop, SECOND);
        assertTrue(until <= SECOND + LATE, "waits for " + until);
        until = queue.due.prepareToWait(loop, until);
        assertEquals(TimerState.REMOVED, rig.state(stopped));
    }

    /** Its wait is not capped. */
    @Test
    void stop_filedWhileALoopWaitsForHours_callsIt() {
        AskingOwner loop = new AskingOwner();
        Inside.setHome(queue, loop);
        rig.keepWith(loop);
        rig.arm(5 * HOUR);
        OneShotTimer stopped = rig.arm(6 * HOUR);
        rig.drain();
        assertTrue(queue.due.prepareToWait(loop, SECOND) > HOUR);
        assertTrue(queue.stop(stopped));
        assertEquals(1, loop.wakes);
        assertTrue(queue.due.prepareToWait(loop, 2 * SECOND) <= 2 * SECOND + LATE);
    }

    /** A loop that only runs what is due and never waits lets go of stopped timers, too. */
    @Test
    void stop_onALoopThatNeverWaits_isLetGoAfterALateSweep() {
        AtomicLong nanos = new AtomicLong();
        try (TimerScheduler s = TimerScheduler.builder().workers(0).clock(nanos::get).build();
                TimerLoop loop = s.attach(() -> {})) {
            Timer filed = loop.after(1, TimeUnit.HOURS, () -> {});
            Timer queued = loop.after(2, TimeUnit.HOURS, () -> {});
            Fixtures.node(queued).queue.view().pending(); // files both
            filed.stop();
            queued.stop();
            Timer arrived = loop.after(3, TimeUnit.HOURS, () -> {});
            arrived.stop();
            for (int i = 0; i < 3; i++) {
                loop.runDue();
                nanos.addAndGet(LATE / 2);
            }
            loop.runDue();
            assertEquals(0, s.stats().staleEntries());
            assertEquals(TimerState.REMOVED, TimerState.state(Fixtures.node(filed).wordVolatile()));
            assertEquals(TimerState.REMOVED, TimerState.state(Fixtures.node(arrived).wordVolatile()));
        }
    }

    private static final class AskingOwner implements QueueOwner {
        int wakes;

        @Override
        public void wake() {
            wakes++;
        }

        @Override
        public boolean asksForArrivals() {
            return true;
        }
    }

    // ---- one worker, several queues ----

    @Test
    void workerSweep_anotherQueueCalls_stopsAtOnce() {
        Rig second = new Rig(false);
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build()) {
            Standby standby = new Standby(s.engine.workerPool, 0);
            Worker d = new Worker(s.engine.workerPool, standby, null, false);
            standby.begin(d, null);
            s.engine.queues = new TimerQueue[] {queue, second.queue};
            try {
                List<OneShotTimer> timers = armMany(40_000, i -> HOUR + i);
                rig.keepWith(standby);
                second.keepWith(standby);
                withoutHelp(() -> timers.forEach(queue::stop));
                long until = Math.min(queue.due.prepareToSleep(standby, 1),
                        second.queue.due.prepareToSleep(standby, 1));
                rig.heap.onTrim = () -> second.arm(SECOND);
                assertTrue(d.sweep(until));
                assertFalse(second.isAsleep());
                assertTrue(rig.entries() > 0, "the sweep went on to its end");
                assertTrue(queue.compactor.wantsSweep());
            } finally {
                s.engine.queues = new TimerQueue[0];
            }
        }
    }

    /** By a thread that does not get the lock, so it neither drains nor sweeps. */
    private void withoutHelp(Runnable action) {
        Inside.lock(queue).lock();
        try {
            Thread other = new Thread(action);
            other.start();
            Fixtures.join(other);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } finally {
            Inside.lock(queue).unlock();
        }
    }

    // ---- between a CAS and its push ----

    /**
     * A thread brings a filed timer forward; while it has not pushed it yet another one brings it forward again, by the
     * word alone, and its wake finds nothing in the inbox. The owner must be awake in the end, or sleep no longer than
     * to the new deadline.
     */
    @Test
    void reset_anotherResetBeforeThePush_isNotSleptOver() throws InterruptedException {
        List<OneShotTimer> timers = armMany(9_000, i -> 5 * HOUR + i);
        OneShotTimer t = timers.get(8_999);
        // So that one more stale entry makes the thread sweep, and give memory back.
        withoutHelp(() -> timers.subList(0, 8_950).forEach(queue::stop));
        CountingOwner k = rig.owner;
        queue.due.prepareToSleep(k, 1);
        boolean[] done = {false};
        rig.heap.onTrim = () -> {
            if (!done[0]) {
                done[0] = true;
                Thread other = new Thread(() -> queue.reset(t, 2));
                other.start();
                try {
                    Fixtures.join(other);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                queue.due.prepareToSleep(k, 1); // by the owner, which this thread stands for
            }
        };
        queue.reset(t, 5 * HOUR - 1);
        assertTrue(done[0], "the sweep must happen inside the reset");
        assertTrue(!rig.isAsleep() || queue.gate.pollUntil() <= 2, "the owner sleeps on");
    }
}
