package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static io.pendula.internal.queue.Inside.verify;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.InsideCompactor;

import io.pendula.Fixtures.CountingOwner;
import io.pendula.Fixtures.Rig;
import io.pendula.internal.queue.Compactor;
import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.standby.Standby;
import io.pendula.internal.workers.Worker;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
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
            long until = Inside.prepareToSleep(queue, now);
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
        rig.sweepAll();
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
            rig.sweepAll(); // gives the entries their true keys, if a sweep does so
            resetAll(timers, i -> soon + i);
            resetAll(timers, i -> Timeline.NEVER);
            queue.stop(timers.get(0));
            queue.reset(timers.get(0), 1);
            rig.drain();
        }
        rig.sweepAll();
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
        rig.sweepAll();
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
        rig.sweepAll();
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
        rig.sweepAll();
        assertEquals(0, rig.dead());
        assertEquals(queue.view().pending(), rig.entries());
    }

    private void stopWithoutHelp(List<OneShotTimer> timers, int from, int to) {
        withoutHelp(() -> timers.subList(from, to).forEach(queue::stop));
    }

    @Test
    void stop_fewOfMany_sweepsNothing() {
        List<OneShotTimer> timers = armMany(20_000, i -> HOUR + i);
        timers.subList(0, 4_900).forEach(queue::stop);
        assertEquals(4_900, rig.dead());
        assertEquals(20_000, rig.entries());
        timers.subList(4_900, 5_001).forEach(queue::stop);
        assertTrue(rig.entries() < 19_000, "it sweeps when more than a quarter is stale");
    }

    /** A sweep that ends early goes on from there, so that what was armed first is not looked at again and again. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sweep_endedEarly_nextFullOneSeesEachEntry(boolean inOrder) {
        List<OneShotTimer> timers = armMany(20_000, i -> inOrder ? HOUR + i : 2 * HOUR - i);
        stopWithoutHelp(timers, 5_000, 12_000);
        assertGoesToSleep(1);
        assertTrue(rig.dead() > 500, "it has ended early");
        stopWithoutHelp(timers, 0, 500);
        stopWithoutHelp(timers, 19_000, 20_000);
        rig.sweepAll();
        assertEquals(0, rig.dead());
        assertEquals(11_500, rig.entries());
        assertEquals(11_500, rig.fire(2 * HOUR));
    }

    /** Where most are live, and many are fired and armed between two chunks. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void fullSweep_entriesComeAndGoMeanwhile_dropsWhatWasStaleBefore(long seed) {
        Random rnd = new Random(seed);
        List<OneShotTimer> timers = armMany(20_000, i -> HOUR + rnd.nextInt(1_000_000) * (i & 1) + i);
        List<OneShotTimer> soon = armMany(5_000, i -> SECOND + i);
        Collections.shuffle(timers, rnd);
        stopWithoutHelp(timers, 0, 3_000);
        InsideCompactor.startFullSweep(queue);
        for (int k = 0; InsideCompactor.isSweepUnderWay(queue); k++) {
            queue.compactor.sweepStep();
            verify(queue);
            for (int i = 0; i < 100; i++) {
                assertSame(soon.get(100 * k + i), rig.claim(2 * SECOND).node());
                rig.arm(3 * HOUR + i); // none of them rises in the heap
            }
            rig.drain();
        }
        assertEquals(0, rig.dead());
    }

    // ---- the count ----

    /** Threads that run out of stack before they count leave it so. No sweep is planned, so the owner sleeps. */
    @Test
    void sleep_countIsTooLow_noSweepIsPlanned() {
        InsideCompactor.countStale(queue, -2 * InsideCompactor.STALE);
        assertEquals(Timeline.NEVER, rig.sleep(1));
        assertFalse(queue.due.hasLeftovers());
    }

    /** One sweep may drop an entry before it is counted. */
    @Test
    void fullSweep_entryIsCountedAfterwards_countIsRight() {
        List<OneShotTimer> timers = armMany(5_000, i -> HOUR + i);
        InsideCompactor.countStale(queue, -InsideCompactor.STALE); // the stop counts after the sweep
        queue.stop(timers.get(4_000));
        rig.sweepAll();
        assertEquals(-1, rig.dead());
        InsideCompactor.countStale(queue, InsideCompactor.STALE);
        rig.sweepAll();
        assertEquals(0, rig.dead());
    }

    private void sweepToItsEnd() {
        while (InsideCompactor.isSweepUnderWay(queue)) {
            queue.compactor.sweepStep();
        }
    }

    /** A sweep needs no memory, and what it drops gives room. */
    @Test
    void fullSweep_noMemory_dropsAll() {
        List<OneShotTimer> timers = armMany(5_000, i -> HOUR + i);
        resetAll(timers, i -> SECOND + i); // so each has left an entry behind
        rig.heap.exhausted = true;
        timers.subList(0, 500).forEach(queue::stop);
        rig.sweepAll();
        assertEquals(0, rig.dead());
        assertEquals(4_500, rig.entries());
        assertEquals(4_500, rig.fire(2 * SECOND));
    }

    // ---- full sweeps ----

    private static final long FULL = Compactor.FULL_SWEEP_NANOS;

    /** Sleeps again and again, sweeping when that is wanted; returns when the owner went to sleep the first time after {@code until}. */
    private long sleepUntil(long from, long until) {
        long now = from;
        while (now < until) {
            long next = rig.sleep(now);
            assertTrue(next > now, "a sleep that has ended before it began");
            now = next;
        }
        return now;
    }

    @Test
    void stop_filedWhileTheOwnerSleeps_isLetGoInAMinute() {
        OneShotTimer far = rig.arm(5 * HOUR);
        OneShotTimer stopped = rig.arm(6 * HOUR);
        long now = rig.sleep(SECOND);
        assertTrue(queue.stop(stopped));
        assertEquals(0, rig.owner.wakes, "the owner is not called");
        sleepUntil(now, now + FULL + SECOND);
        assertEquals(0, rig.dead());
        assertEquals(1, rig.entries());
        assertEquals(TimerNode.REMOVED, rig.state(stopped));
        assertEquals(0, rig.owner.wakes);
        assertTrue(far.isPending());
    }

    @Test
    void stop_inTheInboxWhileTheOwnerSleeps_isLetGoByTheNextDrain() {
        rig.arm(5 * HOUR);
        long now = rig.sleep(SECOND);
        OneShotTimer stopped = rig.arm(6 * HOUR);
        queue.stop(stopped);
        rig.sleep(now);
        assertEquals(0, rig.owner.wakes);
        assertEquals(TimerNode.REMOVED, rig.state(stopped));
    }

    @Test
    void stop_andNothingElseArmed_leavesOneFullSweepAndThenSleepsForEver() {
        List<OneShotTimer> timers = armMany(100, i -> HOUR + i);
        long now = rig.sleep(SECOND);
        timers.forEach(queue::stop);
        while (now != Timeline.NEVER) {
            assertTrue(now <= 3 * SECOND + FULL);
            now = rig.sleep(now);
        }
        assertEquals(0, rig.entries());
        assertEquals(0, rig.owner.wakes);
    }

    /** Each second some more: no sweep makes the next one wait longer. */
    @Test
    void stop_aFewEachSecond_eachIsLetGoInAMinute() {
        List<OneShotTimer> timers = armMany(3_000, i -> HOUR + i);
        long now = SECOND;
        for (int i = 0; i < 600; i++) {
            queue.stop(timers.get(3 * i + 1_000));
            now = sleepUntil(now, now + SECOND);
            if (i >= 60) {
                assertEquals(TimerNode.REMOVED, rig.state(timers.get(3 * (i - 60) + 1_000)));
            }
        }
    }

    /**
     * The process is stopped, or a callback blocks, in the middle of a full sweep, for longer than the span to the next.
     * The plan must not stay in the past, where it would end each sleep at once.
     */
    @Test
    void fullSweep_heldUpForLong_isEndedAndTheNextOnePlanned() {
        List<OneShotTimer> timers = armMany(10_000, i -> HOUR + i);
        queue.stop(timers.get(9_000));
        long now = SECOND;
        while (!InsideCompactor.isSweepUnderWay(queue)) {
            long until;
            do {
                until = Inside.prepareToSleep(queue, now);
            } while (until == DueTimers.RETRY);
            now = InsideCompactor.isSweepUnderWay(queue) ? now : until;
        }
        queue.compactor.sweepStep();
        now += 10 * FULL;
        queue.stop(timers.get(9_001));
        long until = Inside.prepareToSleep(queue, now);
        assertTrue(until > now, "the plan lies in the past");
        assertTrue(InsideCompactor.isSweepUnderWay(queue));
        sweepToItsEnd();
        sleepUntil(now, now + FULL + 2 * SECOND);
        assertEquals(0, rig.dead());
        assertEquals(9_998, rig.entries());
    }

    /** A loop leaves in the inbox what it does not need; what was stopped there must go, too. */
    @Test
    void stop_inTheInboxOfALoop_isLetGoInAMinute() {
        AskingOwner loop = new AskingOwner();
        rig.keepWith(loop);
        rig.drain();
        OneShotTimer stopped = rig.arm(6 * HOUR);
        queue.stop(stopped);
        long now = SECOND;
        while (rig.state(stopped) != TimerNode.REMOVED) {
            assertTrue(now <= SECOND + 2 * FULL, "it is still there");
            now = queue.due.prepareToSleep(loop, now);
        }
    }

    /** The thread of a loop with far timers waits no longer than that what others stop goes in time. */
    @Test
    void stop_filedInALoopThatWaits_isLetGoInAMinute() {
        AskingOwner loop = new AskingOwner();
        rig.keepWith(loop);
        OneShotTimer stopped = rig.arm(6 * HOUR);
        rig.drain();
        long now = queue.due.prepareToSleep(loop, SECOND);
        queue.stop(stopped);
        while (rig.entries() > 0) {
            assertTrue(now <= SECOND + 2 * FULL, "it is still there");
            long until = queue.due.prepareToSleep(loop, now);
            if (queue.compactor.wantsSweep()) {
                queue.compactor.sweepStep();
            } else {
                now = until;
            }
        }
        assertEquals(Timeline.NEVER, queue.due.prepareToSleep(loop, now), "nothing is left");
    }

    /** A loop that only runs what is due and never waits lets go of stopped timers, too. */
    @Test
    void stop_onALoopThatNeverWaits_isLetGoAfterAFullSweep() {
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
                nanos.addAndGet(FULL / 2);
            }
            loop.runDue();
            assertEquals(0, s.stats().staleEntries());
            assertEquals(TimerNode.REMOVED, TimerNode.state(Fixtures.node(filed).wordVolatile()));
            assertEquals(TimerNode.REMOVED, TimerNode.state(Fixtures.node(arrived).wordVolatile()));
        }
    }

    private static final class AskingOwner implements QueueOwner {
        @Override
        public void call() {}

    }

    // ---- one worker, several queues ----

    @Test
    void workerSweep_anotherQueueCalls_stopsAtOnce() {
        Rig second = new Rig(false);
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build()) {
            Standby standby = new Standby(new TimerQueue[] {queue, second.queue}, new WakeGate(), 0);
            Worker d = new Worker(s.engine.workerPool, standby, null, false);
            standby.begin(d, null);
            List<OneShotTimer> timers = armMany(40_000, i -> HOUR + i);
            rig.keepWith(standby);
            second.keepWith(standby);
            withoutHelp(() -> timers.forEach(queue::stop));
            long until = Math.min(Inside.prepareToSleep(queue, 1),
                    Inside.prepareToSleep(second.queue, 1));
            rig.heap.onTrim = () -> second.arm(SECOND / 2);
            assertTrue(d.sweep(until));
            assertTrue(rig.entries() > 0, "the sweep went on to its end");
            assertTrue(queue.compactor.wantsSweep());
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
        withoutHelp(() -> timers.subList(0, 2_300).forEach(queue::stop));
        CountingOwner k = rig.owner;
        Inside.prepareToSleep(queue, 1);
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
                Inside.prepareToSleep(queue, 1); // by the owner, which this thread stands for
            }
        };
        queue.reset(t, 5 * HOUR - 1);
        assertTrue(done[0], "the sweep must happen inside the reset");
        assertTrue(!rig.isAsleep() || queue.gate.lookAt() <= 2, "the owner sleeps on");
    }
}
