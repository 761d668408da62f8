package io.pendula;

import static io.pendula.LifeFixtures.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.LimitedHeap;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.standby.Standby;
import io.pendula.internal.workers.Worker;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The roles of workers whose threads never run: the test makes their steps, at instants of its choice. */
class StandbyTest {
    private static final long MS = 1_000_000;
    private static final long US = 1_000;
    private static final long NOW = 1000 * MS;

    private static final class Idle extends Thread {
        @Override
        public synchronized void start() {
            // The test is the thread.
        }
    }

    private final SchedulerEngine engine = TimerExecutors.newScheduledThreadPool(4, r -> new Idle()).engine;
    private final Standby standby = engine.standby;
    private final TimerQueue queue = engine.queues[0];
    private final Worker first = worker();
    private final Worker second = worker();
    private final Worker third = worker();

    StandbyTest() {
        standby.begin(first, second);
    }

    private Worker worker() {
        Worker d = new Worker(engine.workerPool, standby, queue, false);
        d.setThread(new Idle());
        return d;
    }

    @AfterEach
    void close() {
        engine.shutdownNow(t -> {});
    }

    private OneShotTimer arm(long when) {
        return arm(queue, when);
    }

    private static OneShotTimer arm(TimerQueue queue, long when) {
        OneShotTimer t = new OneShotTimer(queue, () -> {});
        queue.arm(t, Timeline.deadlineAt(when));
        return t;
    }

    /** As the poller does before it sleeps: when it must look next. */
    private long settle(Worker d, long now) {
        long next = standby.settle(d, now, false);
        while (next == DueTimers.RETRY) {
            next = standby.settle(d, now, false);
        }
        return next;
    }

    private void sleepAsPoller(Worker d, long now) {
        sleepAsPoller(d, now, 0);
    }

    private void sleepAsPoller(Worker d, long now, long firedAt) {
        assertTrue(standby.goToSleep(d, true, settle(d, now), now, firedAt));
    }

    private void sleepBehind(Worker d, long now) {
        assertTrue(standby.goToSleep(d, false, Timeline.NEVER, now, 0));
    }

    private static void wakeUp(Worker d) {
        d.asleep = false;
    }

    @Test
    void sleep_nothingArmed_nobodyHasADeadline() {
        sleepAsPoller(first, NOW);
        sleepBehind(second, NOW);
        assertEquals(List.of(Timeline.NEVER, Timeline.NEVER), List.of(first.until, second.until));
        assertSame(first, standby.poller());
        assertSame(second, standby.guard());
    }

    // ---- the first timer of an idle scheduler ----

    private void sleepForEver(long now) {
        sleepAsPoller(first, now);
        sleepBehind(second, now);
        assertEquals(List.of(Timeline.NEVER, Timeline.NEVER), List.of(first.until, second.until));
    }

    @Test
    void firstIsArmed_pollerAloneIsCalled() {
        sleepForEver(NOW);
        arm(NOW + 3600_000 * MS);
        assertTrue(first.isCalled());
        assertFalse(second.isCalled() || third.isCalled());
    }

    /** A worker whose thread cannot be started. */
    private static final class Threadless extends Sleeper {
        int calls;

        Threadless() {
            super(null, false);
        }

        @Override
        public boolean wakeThread() {
            calls++;
            return false;
        }

        @Override
        public void tell(Throwable thrown) {}

        @Override
        public Thread runner() {
            return null;
        }
    }

    @Test
    void firstIsArmed_pollersThreadCannotBeStarted_guardIsCalledAndCallsItEachSecond() {
        Threadless poller = new Threadless();
        poller.sleeps(Timeline.NEVER);
        second.sleeps(Timeline.NEVER);
        standby.begin(poller, second);
        arm(NOW);
        assertTrue(second.isCalled());
        assertEquals(1, poller.calls);
        wakeUp(second);
        sleepBehind(second, NOW);
        assertEquals(2, poller.calls);
        assertEquals(2000 * MS, second.until);
    }

    /** The same if the guard is about to sleep for ever, and so is not called. */
    @Test
    void guardGoesToSleep_somethingIsArmedAndThePollerHasNoThread_guardCallsIt() {
        Threadless poller = new Threadless();
        poller.sleeps(Timeline.NEVER);
        standby.begin(poller, second);
        arm(NOW);
        assertFalse(second.isCalled(), "it is up");
        sleepBehind(second, NOW);
        assertEquals(2, poller.calls);
        assertEquals(2000 * MS, second.until);
    }

    @Test
    void sleep_asPoller_somethingIsFarAway_forASecondAtMost() {
        arm(NOW + 3600_000 * MS);
        sleepAsPoller(first, NOW);
        assertEquals(2000 * MS, first.until);
        sleepBehind(second, NOW);
        assertEquals(3000 * MS, second.until, "each second one of the two wakes up");
    }

    /** All queues end at one instant, or the poller would wake up once a second for each. */
    @Test
    void sleep_asPoller_twoQueuesSettledAtDifferentTimes_endAtOneInstant() {
        arm(engine.queues[0], NOW + 3600_000 * MS);
        assertEquals(2000 * MS, settle(first, NOW));
        arm(engine.queues[1], NOW + 3600_000 * MS);
        assertEquals(2000 * MS, settle(first, NOW + 300 * MS));
    }

    @Test
    void sleep_asPoller_untilTheNextDeadline() {
        arm(NOW + 10 * MS);
        sleepAsPoller(first, NOW);
        assertEquals(NOW + 10 * MS, first.until);
    }

    @Test
    void sleep_behindThePoller_untilTheDeadlineThatFollowsTheGrace() {
        arm(NOW + 10 * MS);
        arm(NOW + 10 * MS + Standby.GRACE_NANOS / 2);
        arm(NOW + 12 * MS);
        arm(NOW + 13 * MS);
        sleepAsPoller(first, NOW);
        sleepBehind(second, NOW);
        assertEquals(NOW + 12 * MS, second.until);
    }

    @Test
    void sleep_behindThePoller_nothingElseArmed_noLongerThanACappedSleep() {
        arm(NOW + 10 * MS);
        sleepAsPoller(first, NOW);
        sleepBehind(second, NOW);
        assertEquals(2000 * MS, second.until);
    }

    /** The poller's sleep is capped, but what it looks at is when that queue's timer is due. */
    @Test
    void callback_otherQueueHasATimerThatIsFarAway_guardIsNotCalled() {
        arm(engine.queues[1], NOW + 3600_000 * MS);
        arm(NOW + 3600_000 * MS);
        sleepAsPoller(first, NOW);
        sleepBehind(second, NOW);
        arm(NOW + 10 * MS);
        wakeUp(first);
        sleepAsPoller(first, NOW + 1 * MS);
        wakeUp(first);
        assertEquals(DueTimers.CLAIMED, queue.due.pollOne(first, NOW + 10 * MS));
        assertTrue(standby.ensureGuard(first, queue, NOW + 10 * MS));
        standby.callIfTooLate(first, queue, NOW + 10 * MS);
        assertFalse(second.isCalled());
        first.end();
    }

    @Test
    void sleep_guardWakesUpForTheNextDeadlineAnyway_rolesChange() {
        arm(NOW + 12 * MS);
        arm(NOW + 20 * MS);
        second.sleeps(NOW + 12 * MS);
        sleepAsPoller(first, NOW);
        assertSame(second, standby.poller());
        assertSame(first, standby.guard());
        assertEquals(NOW + 20 * MS, first.until);
        assertFalse(second.isCalled());
    }

    /** It may have looked for the poller before it became that, and found the old one asleep: then it publishes nothing. */
    @Test
    void sleep_guardWakesUpWhileItGetsTheRole_oldPollerLooksSoon() {
        LimitedHeap heap = new LimitedHeap();
        WakeGate gate = new WakeGate();
        TimerQueue q = new TimerQueue(0, engine.timeline, null, heap, null, false, gate);
        Standby own = new Standby(new TimerQueue[] {q}, gate, 0);
        Worker d = new Worker(engine.workerPool, own, q, false);
        Worker g = new Worker(engine.workerPool, own, q, false);
        own.begin(d, g);
        g.sleeps(NOW + 12 * MS);
        heap.onLook = () -> wakeUp(g);
        assertTrue(own.goToSleep(d, true, NOW + 12 * MS, NOW, 0));
        assertSame(g, own.poller());
        assertEquals(NOW + Standby.GRACE_NANOS, d.until);
    }

    /** It would wake up for nothing, and so would each after it. */
    @Test
    void sleep_guardWakesUpLongBeforeTheNextDeadline_rolesStay() {
        arm(NOW + 3600_000 * MS);
        second.sleeps(NOW + 12 * MS);
        sleepAsPoller(first, NOW);
        assertSame(first, standby.poller());
        wakeUp(second);
        sleepBehind(second, NOW + 12 * MS);
        assertTrue(second.until >= 2000 * MS, "sleeps until " + second.until);
    }

    @Test
    void sleep_noGuardSleeps_oneInReserveBecomesGuard() {
        engine.workerPool.knows(first, second, third);
        third.sleeps(Timeline.NEVER);
        arm(NOW + 10 * MS);
        sleepAsPoller(first, NOW); // the second is up, in a callback
        assertSame(third, standby.guard());
        assertTrue(third.isCalled());
    }

    @ParameterizedTest
    @CsvSource({"0, 100", "40, 100", "99, 149", "500, 550"})
    void sleep_afterAFiring_lastsForTheSpacing(long ranForMicros, long expectedMicros) {
        long now = NOW + ranForMicros * US;
        arm(now + 1 * US);
        sleepAsPoller(first, now, NOW);
        assertEquals(NOW + expectedMicros * US, first.until);
    }

    @Test
    void sleep_nothingHasFired_atLeastAsLongAsAParkTakes() {
        arm(NOW + 1);
        sleepAsPoller(first, NOW);
        assertEquals(NOW + 50 * US, first.until);
    }

    @Test
    void sleep_nothingHasEverRun_isNotSpaced() {
        Standby fresh = new Standby(engine.queues, new WakeGate(), 3600_000 * MS);
        Worker d = new Worker(engine.workerPool, fresh, queue, false);
        fresh.begin(d, null);
        assertTrue(fresh.goToSleep(d, true, 10 * MS, 1 * MS, 0));
        assertEquals(10 * MS, d.until);
    }

    @Test
    void sleep_withoutSpacing_isExact() {
        Standby exact = new Standby(engine.queues, new WakeGate(), 0);
        Worker d = new Worker(engine.workerPool, exact, queue, false);
        exact.begin(d, null);
        assertTrue(exact.goToSleep(d, true, NOW + 1, NOW, NOW));
        assertEquals(NOW + 1, d.until);
    }

    @Test
    void guardWakesUp_pollerHeldUp_takesTheRole() {
        sleepAsPoller(first, NOW);
        wakeUp(first);
        holdUp(first, NOW);
        assertFalse(standby.goToSleep(second, false, Timeline.NEVER, NOW + 1 * MS, 0), "it has a round to make");
        assertSame(second, standby.poller());
        // The old poller comes back and sleeps behind it.
        sleepAsPoller(second, NOW + 1 * MS);
        release(first);
        sleepBehind(first, NOW + 2 * MS);
        assertSame(first, standby.guard());
    }

    /** Until then the gate says what the old poller has published, and for which this worker slept as the guard. */
    @Test
    void guardTakesTheRole_inItsCallbacks_publishesAnew() {
        sleepAsPoller(first, NOW);
        wakeUp(first);
        holdUp(first, NOW);
        second.hasBegun = true;
        assertFalse(standby.goToSleep(second, false, Timeline.NEVER, NOW + 1 * MS, 0), "it has a round to make");
        assertFalse(second.hasBegun, "its next callback counts as the first");
    }

    @Test
    void guardWakesUp_pollerHasJustBegunACallback_looksAgainSoon() {
        sleepAsPoller(first, NOW);
        wakeUp(first);
        holdUp(first, NOW);
        for (int i = 0; i < 5; i++) {
            holdUp(first, NOW); // another callback each time
            sleepBehind(second, NOW);
            assertEquals(NOW + Standby.GRACE_NANOS, second.until);
            wakeUp(second);
        }
        assertSame(first, standby.poller());
    }

    /** Puts it into a callback that has begun then, which this thread never ends. */
    private static void holdUp(Worker d, long since) {
        if (d.isInCallback()) {
            d.leaveCallback();
        }
        d.claimedAt = since;
        d.enterCallback();
    }

    private static void release(Worker d) {
        d.leaveCallback();
    }

    @Test
    void arm_pollerSleepsLonger_isCalled() {
        arm(NOW + 10 * MS);
        sleepAsPoller(first, NOW);
        arm(NOW + 20 * MS);
        assertFalse(first.isCalled());
        arm(NOW + 5 * MS);
        assertTrue(first.isCalled());
        assertFalse(second.isCalled());
    }

    @Test
    void arm_pollerIsUp_guardSleepsLonger_guardIsCalledOnce() {
        sleepAsPoller(first, NOW);
        sleepBehind(second, NOW);
        wakeUp(first);
        beginCallback(NOW);
        assertFalse(second.isCalled());
        arm(NOW + 5 * MS);
        assertTrue(second.isCalled());
        assertEquals(WakeGate.AWAKE, queue.gate.lookAt(), "so no other thread that arms calls it");
    }

    @Test
    void arm_pollerIsUp_guardWakesUpBefore_nobodyIsCalled() {
        standby.begin(first, second);
        second.sleeps(NOW + 1 * MS);
        beginCallback(NOW);
        arm(NOW + 5 * MS);
        assertFalse(second.isCalled());
    }

    /** As the poller does before its first callback. */
    private void beginCallback(long now) {
        assertTrue(standby.ensureGuard(first, queue, now));
    }

    /** Else each drain of a poller that is kept busy by others would bring a call of the guard. */
    @Test
    void arm_pollerIsUp_guardLooksSoon_nobodyIsCalled() {
        long now = engine.timeline.now();
        standby.begin(first, second);
        second.sleeps(now + Standby.GRACE_NANOS);
        beginCallback(now);
        arm(now);
        arm(now + Worker.HELD_UP_NANOS);
        assertFalse(second.isCalled());
        second.sleeps(now + 10_000 * MS);
        beginCallback(now);
        arm(now);
        assertTrue(second.isCalled());
    }

    @Test
    void arm_pollerHasBeenUpForLong_guardLooksAgainSoon_nobodyIsCalled() {
        // Later than the clock says at any time of this test: the guard's look never comes near by time passing.
        long now = engine.timeline.now() + 10_000 * MS;
        sleepAsPoller(first, now);
        arm(now); // which is why it wakes up
        wakeUp(first);
        for (int i = 0; i < 5; i++) {
            sleepBehind(second, now);
            beginCallback(now);
            arm(now);
            arm(now + Worker.HELD_UP_NANOS);
            assertFalse(second.isCalled());
            wakeUp(second);
        }
    }

    /** The look that it had planned while the poller was up does not count any more. */
    @Test
    void arm_guardThatLookedSleepsBehindASleepingPoller_isCalled() {
        long now = engine.timeline.now();
        sleepAsPoller(first, now);
        wakeUp(first);
        sleepBehind(second, now);
        wakeUp(second);
        sleepAsPoller(first, now);
        sleepBehind(second, now);
        wakeUp(first);
        beginCallback(now);
        arm(now);
        assertTrue(second.isCalled());
    }

    /** Whether a callback of the poller's that arms for that instant calls a guard that sleeps until {@code until}. */
    private boolean isCalledByACallback(long when, long until) {
        Worker guard = worker();
        standby.begin(first, guard);
        guard.sleeps(until);
        first.setThread(Thread.currentThread());
        holdUp(first, NOW);
        beginCallback(NOW);
        arm(when);
        release(first);
        return guard.isCalled();
    }

    /** However seldom such a callback blocks: nobody else would look in time. */
    @Test
    void arm_byThePollersOwnCallback_guardWouldComeTooLate_isCalledAtOnce() {
        long when = NOW + 1 * MS;
        assertTrue(isCalledByACallback(when, when + Standby.GRACE_NANOS + 1));
        assertTrue(isCalledByACallback(when, when + 1000 * MS));
        assertTrue(isCalledByACallback(NOW, NOW + Standby.GRACE_NANOS + 1));
    }

    /** Else each callback that arms its timer again would call the guard. */
    @Test
    void arm_byThePollersOwnCallback_guardWakesUpWithinTheGrace_isNotCalled() {
        long when = NOW + 1 * MS;
        assertFalse(isCalledByACallback(NOW + 1000 * MS, NOW + 1000 * MS));
        assertFalse(isCalledByACallback(when, when + Standby.GRACE_NANOS));
        assertFalse(isCalledByACallback(when, NOW));
    }

    /** As a ticker is, at the end of its run: the poller drains that before it sleeps, and looks before the next callback. */
    @Test
    void arm_byThePollerBetweenCallbacks_guardWouldComeTooLate_isNotCalled() {
        second.sleeps(Timeline.NEVER);
        first.setThread(Thread.currentThread());
        beginCallback(NOW);
        arm(NOW + 1 * MS);
        assertFalse(second.isCalled());
    }

    /** Called by a callback that goes on for long: it has the role before what was armed is late by the grace. */
    @Test
    void guardWasCalledByACallback_thatBlocks_guardTakesTheRoleWhenItLooksAgain() {
        sleepAsPoller(first, NOW);
        wakeUp(first);
        holdUp(first, NOW);
        sleepBehind(second, NOW + 60 * US);
        assertEquals(NOW + 60 * US + Standby.GRACE_NANOS, second.until);
        wakeUp(second);
        assertFalse(standby.goToSleep(second, false, Timeline.NEVER, second.until, 0), "it has a round to make");
        assertSame(second, standby.poller());
    }

    /** For what it arms and then holds up: nobody else would look for seconds. */
    @Test
    void arm_byThePollersOwnCallback_guardSleepsForEver_isCalledAtOnce() {
        sleepAsPoller(first, NOW);
        sleepBehind(second, NOW);
        wakeUp(first);
        first.setThread(Thread.currentThread());
        first.enterCallback();
        beginCallback(NOW);
        arm(NOW + 5 * MS);
        first.leaveCallback();
        assertTrue(second.isCalled());
    }

    /** Its deadline is the earliest that there is, and must not be taken for the call of a sweep. */
    @Test
    void arm_forTheFirstOfAllInstants_pollerIsInACallback_guardIsCalled() {
        second.sleeps(Timeline.NEVER);
        holdUp(first, NOW);
        beginCallback(NOW);
        arm(0);
        assertTrue(second.isCalled());
    }

    /** It has begun no callback yet, so the gate says what it has published before it slept. */
    @Test
    void arm_pollerIsUpAndHasBegunNoCallback_guardSleepsLonger_guardIsCalled() {
        arm(NOW + 100 * MS);
        second.sleeps(NOW + 120 * MS);
        sleepAsPoller(first, NOW);
        wakeUp(first);
        assertFalse(second.isCalled());
        arm(NOW + 5 * MS);
        assertEquals(WakeGate.AWAKE, queue.gate.lookAt());
        assertTrue(second.isCalled());
    }

    /** It may be long in learning of it, so it must not change what the new poller has published. */
    @Test
    void goToSleep_roleWasLost_publishesNothing() {
        arm(NOW + 100 * MS);
        standby.begin(second, null);
        sleepAsPoller(second, NOW);
        arm(NOW + 200 * MS);
        assertTrue(standby.goToSleep(first, true, settle(first, NOW), NOW, 0));
        assertEquals(NOW + 100 * MS, queue.gate.lookAt());
        assertSame(second, standby.poller());
        assertSame(first, standby.guard());
    }

    // ---- spare workers ----

    private Worker spare() {
        Worker d = new Worker(engine.workerPool, standby, null, true);
        d.setThread(new Idle());
        return d;
    }

    /** While a spare one guards, the poller would be alone with all that is due otherwise. */
    @Test
    void callHelper_guardIsASpareOne_oneInReserveIsCalled() {
        Worker spare = spare();
        engine.workerPool.knows(first, second, spare);
        second.sleeps(Timeline.NEVER);
        spare.sleeps(NOW + Standby.GRACE_NANOS);
        standby.begin(first, spare);
        standby.callHelper(first);
        assertTrue(second.isCalled());
        assertFalse(spare.isCalled(), "it runs nothing as long as the poller gets on");
    }

    /** Else each burst of callbacks that take somewhat long would start one spare after the other. */
    @Test
    void spareWakesUp_pollerIsNotStuckYet_looksAgainThenTakesTheRole() {
        Worker spare = spare();
        standby.begin(first, null);
        holdUp(first, NOW);
        sleepBehind(spare, NOW + Worker.STUCK_NANOS);
        assertSame(first, standby.poller());
        assertEquals(NOW + Worker.STUCK_NANOS + Standby.GRACE_NANOS, spare.until);
        wakeUp(spare);
        assertFalse(standby.goToSleep(spare, false, Timeline.NEVER, NOW + Worker.STUCK_NANOS + 1, 0), "it has a round");
        assertSame(spare, standby.poller());
    }

    /** A spare one would take over later. */
    @Test
    void sleepBehindThePoller_aSpareIsTheGuard_theOtherBecomesIt() {
        Worker spare = spare();
        standby.begin(first, null);
        holdUp(first, NOW);
        sleepBehind(spare, NOW);
        assertSame(spare, standby.guard());
        sleepBehind(second, NOW);
        assertSame(second, standby.guard());
        wakeUp(spare);
        sleepBehind(spare, NOW);
        assertSame(second, standby.guard());
        assertEquals(Timeline.NEVER, spare.until);
    }

    @Test
    void sparePolls_anotherSleepsAsTheGuard_thatGetsTheRoleAndIsCalled() {
        Worker spare = spare();
        arm(NOW + 10 * MS);
        standby.begin(spare, first);
        first.sleeps(NOW + 11 * MS);
        sleepAsPoller(spare, NOW);
        assertSame(first, standby.poller());
        assertSame(spare, standby.guard());
        assertTrue(first.isCalled());
    }

    @Test
    void callHelper_onlyASpareSleeps_nobodyIsCalled() {
        Worker spare = spare();
        standby.begin(first, spare);
        spare.sleeps(Timeline.NEVER);
        standby.callHelper(first);
        assertFalse(spare.isCalled());
    }

    @Test
    void leave_pollerIsUp_stays() {
        assertFalse(standby.leave(second));
    }

    /** As the poller does before it runs what it has claimed. */
    private void poll(long now) {
        assertEquals(DueTimers.CLAIMED, queue.due.pollOne(first, now));
    }

    @Test
    void firstCallback_nothingElseArmed_guardSleepsOn() {
        arm(NOW + 10 * MS);
        sleepAsPoller(first, NOW);
        sleepBehind(second, NOW);
        wakeUp(first);
        poll(NOW + 10 * MS);
        assertTrue(standby.ensureGuard(first, queue, NOW + 10 * MS));
        assertFalse(second.isCalled());
    }

    @Test
    void firstCallback_timersArmedSinceTheGuardWentToSleep_guardIsCalled() {
        arm(NOW + 10 * MS);
        sleepAsPoller(first, NOW);
        sleepBehind(second, NOW);
        arm(NOW + 11 * MS);
        wakeUp(first);
        poll(NOW + 10 * MS);
        assertFalse(second.isCalled());
        assertTrue(standby.ensureGuard(first, queue, NOW + 10 * MS));
        assertTrue(second.isCalled());
    }

    @Test
    void firstCallback_anotherTimerIsDueAlready_guardIsCalled() {
        arm(NOW + 900 * MS);
        second.sleeps(NOW + 905 * MS);
        sleepAsPoller(first, NOW);
        second.sleeps(Timeline.NEVER);
        arm(NOW);
        arm(NOW);
        wakeUp(first);
        poll(NOW);
        assertFalse(second.isCalled());
        assertTrue(standby.ensureGuard(first, queue, NOW));
        assertTrue(second.isCalled());
    }

    @Test
    void firstCallback_anotherTimerIsDueInAMoment_guardThatSleepsForLongIsCalled() {
        arm(NOW + 900 * MS);
        second.sleeps(NOW + 905 * MS);
        sleepAsPoller(first, NOW);
        second.sleeps(Timeline.NEVER);
        arm(NOW);
        arm(NOW + 1);
        wakeUp(first);
        poll(NOW);
        assertFalse(second.isCalled());
        assertTrue(standby.ensureGuard(first, queue, NOW));
        assertTrue(second.isCalled());
    }

    /** As a thread of the program's may throw when it is looked at: the timer is claimed, and must run. */
    @Test
    void firstCallback_guardCannotBeCalled_runs() {
        boolean[] ran = new boolean[1];
        queue.arm(new OneShotTimer(queue, () -> ran[0] = true), NOW);
        arm(NOW + 1 * MS);
        Sleeper broken = new Sleeper(null, false) {
            @Override
            public boolean wakeThread() {
                throw new IllegalStateException("meant");
            }

            @Override
            public void tell(Throwable thrown) {}

            @Override
            public Thread runner() {
                return null;
            }
        };
        standby.begin(first, broken);
        broken.sleeps(Timeline.NEVER);
        first.help(queue, NOW);
        assertTrue(ran[0]);
    }

    @Test
    void firstCallback_noGuardSleeps_oneInReserveBecomesGuard() {
        engine.workerPool.knows(first, second, third);
        assertFalse(standby.ensureGuard(first, queue, NOW));
        third.sleeps(Timeline.NEVER);
        assertTrue(standby.ensureGuard(first, queue, NOW));
        assertSame(third, standby.guard());
        assertFalse(third.isCalled(), "nothing is armed that it would have to look for");
        arm(NOW + 5 * MS);
        assertTrue(third.isCalled());
    }

    /** It would have no guard else, as one that sleeps as the guard is none in reserve. */
    @Test
    void firstCallback_guardGoesToSleepMeanwhile_staysTheGuard() throws InterruptedException {
        engine.workerPool.knows(first, second);
        Thread t = new Thread(() -> standby.ensureGuard(first, queue, NOW));
        synchronized (standby) {
            t.start();
            eventually("it has seen no guard asleep", () -> t.getState() == Thread.State.BLOCKED);
            sleepBehind(second, NOW);
        }
        Fixtures.join(t);
        assertSame(second, standby.guard());
    }

    @Test
    void leave_asPoller_stays() {
        Worker spare = spare();
        standby.begin(spare, null);
        sleepBehind(second, NOW);
        assertFalse(standby.leave(spare));
    }

    /** It counts as free until it is gone, so they start none themselves. */
    @Test
    void leave_othersBeginCallbacksBeforeItIsGone_anotherIsStarted() {
        Worker spare = spare();
        engine.workerPool.knows(first, second, spare);
        second.hasBegun = true;
        sleepAsPoller(first, NOW);
        standby.begin(first, spare);
        assertTrue(standby.leave(spare));
        wakeUp(first);
        first.hasBegun = true;
        assertFalse(standby.ensureGuard(first, queue, NOW));
        engine.workerPool.growIfAlone(first);
        assertEquals(List.of(first, second, spare), List.of(engine.workerPool.workers()));
        engine.workerPool.ended(spare);
        List<Sleeper> left = List.of(engine.workerPool.workers());
        assertEquals(3, left.size(), "with the one that was started");
        assertFalse(left.contains(spare));
    }

    @Test
    void leave_asGuardWhileThePollerSleeps_anotherBecomesGuardBeforeTheNextCallback() {
        engine.workerPool.knows(first, second, third);
        third.sleeps(Timeline.NEVER);
        sleepAsPoller(first, NOW);
        Worker spare = spare();
        standby.begin(first, spare);
        assertTrue(standby.leave(spare));
        wakeUp(first);
        assertTrue(standby.ensureGuard(first, queue, NOW));
        assertSame(third, standby.guard());
    }
}
