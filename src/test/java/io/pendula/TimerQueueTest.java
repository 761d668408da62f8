package io.pendula;

import static io.pendula.internal.queue.Inside.verify;
import static io.pendula.internal.queue.TimerNode.CANCELLED;
import static io.pendula.internal.queue.TimerNode.MODIFIED_LATER;
import static io.pendula.internal.queue.TimerNode.MOVING;
import static io.pendula.internal.queue.TimerNode.NO_STATUS;
import static io.pendula.internal.queue.TimerNode.REMOVED;
import static io.pendula.internal.queue.TimerNode.RUNNING;
import static io.pendula.internal.queue.TimerNode.RUNNING_ARMED;
import static io.pendula.internal.queue.TimerNode.WAITING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.InsideCompactor;
import io.pendula.internal.queue.InsideHeap;
import io.pendula.internal.queue.InsideInbox;

import io.pendula.Fixtures.Claim;
import io.pendula.Fixtures.CountingOwner;
import io.pendula.Fixtures.Rig;
import io.pendula.internal.queue.Compactor;
import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.PendingLimit;
import io.pendula.internal.queue.QueueView;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a row of the transition table cannot say, and what its rows have in common; {@link TransitionTableTest} tries each row. */
class TimerQueueTest extends QueueCase {
    // ---- arm ----

    @Test
    void arm_earlierThanTheSleep_wakesOnce() {
        assertWord(rig.arm(499), MOVING, 499);
        rig.arm(400);
        rig.arm(300);
        assertFalse(rig.isAsleep());
        assertCounts(0, 3, 1);
    }

    @Test
    void arm_sameAsTheSleep_wakesNobody() {
        rig.arm(ANCHOR);
        assertTrue(rig.isAsleep());
        assertCounts(0, 1, 0);
    }

    @Test
    void arm_ownerSleepsForEver_isWoken() {
        use(new Rig(false));
        assertEquals(Timeline.NEVER, rig.sleep(1));
        rig.arm(Timeline.NEVER);
        assertEquals(0, rig.owner.wakes);
        rig.arm(Timeline.NEVER - 1);
        assertEquals(1, rig.owner.wakes);
    }

    /** A sleep without end would keep it in memory. */
    @Test
    void stop_filedAndNeverDue_ownerIsWokenAndLetsItGo() {
        use(new Rig(false));
        OneShotTimer other = rig.arm(Timeline.NEVER);
        OneShotTimer t = rig.arm(Timeline.NEVER); // behind the top, which a sleep cleans
        assertEquals(Timeline.NEVER, rig.sleep(1));
        assertTrue(queue.stop(t));
        assertFalse(rig.isAsleep());
        assertEquals(1, rig.owner.wakes);
        assertTrue(rig.sleep(2) < Timeline.NEVER);
        assertTrue(queue.cancel(other));
        assertEquals(1, rig.owner.wakes, "this sleep has an end");
        long later = 1 + 2 * Compactor.FULL_SWEEP_NANOS;
        rig.sleep(later);
        assertEquals(Timeline.NEVER, rig.sleep(later + 1));
        assertEquals(0, rig.entries());
        assertWord(t, REMOVED, Timeline.NEVER);
    }

    /** Its sweeps are planned for never, so it cannot wait for one. */
    @Test
    void stop_neverDueWithAManualClock_ownerSleepsAgain() {
        use(new Rig(true));
        rig.arm(Timeline.NEVER);
        OneShotTimer t = rig.arm(Timeline.NEVER);
        rig.drain();
        assertTrue(queue.stop(t));
        assertEquals(Timeline.NEVER, queue.due.prepareToSleep(rig.owner, 1), "as a loop");
        assertEquals(2, rig.entries());
    }

    @Test
    void stop_inInboxAndNeverDue_ownerIsWokenAndDropsIt() {
        use(new Rig(false));
        assertEquals(Timeline.NEVER, rig.sleep(1));
        OneShotTimer t = rig.arm(Timeline.NEVER);
        assertTrue(rig.isAsleep());
        assertTrue(queue.stop(t));
        assertFalse(rig.isAsleep());
        assertEquals(Timeline.NEVER, rig.sleep(2));
        assertWord(t, REMOVED, Timeline.NEVER);
    }

    /** Its thread polls only when it is woken. */
    @Test
    void stop_neverDueInALoopThatWaitsForEver_loopIsWoken() {
        use(new Rig(false));
        CountingOwner loop = new CountingOwner();
        rig.keepWith(loop);
        assertEquals(Timeline.NEVER, queue.due.prepareToSleep(loop, 1));
        OneShotTimer t = rig.arm(Timeline.NEVER);
        assertEquals(0, loop.wakes);
        assertTrue(queue.stop(t));
        assertEquals(1, loop.wakes);
        assertFalse(queue.due.beginPoll(loop, 2));
        assertTrue(queue.due.prepareToSleep(loop, 2) < Compactor.FULL_SWEEP_NANOS, "it looks again");
        assertFalse(queue.due.beginPoll(loop, 3 + Compactor.FULL_SWEEP_NANOS));
        assertWord(t, REMOVED, Timeline.NEVER);
    }

    /** The stop in between woke an owner that found nothing in the inbox. */
    @Test
    void reset_neverDueAndStoppedBeforeThePush_ownerIsWokenAfterIt() {
        use(new Rig(false));
        boolean[] stops = {false};
        TimerNode t = new TimerNode(() -> {}) {
            @Override
            public boolean casWord(long expected, long value) {
                boolean done = super.casWord(expected, value);
                if (done && stops[0]) {
                    stops[0] = false;
                    assertTrue(queue.stop(this));
                    assertEquals(Timeline.NEVER, rig.sleep(3));
                }
                return done;
            }
        };
        queue.arm(t, 10);
        assertEquals(1, rig.fire(10));
        assertEquals(Timeline.NEVER, rig.sleep(2));
        stops[0] = true;
        assertFalse(queue.reset(t, Timeline.NEVER));
        assertFalse(rig.isAsleep());
        assertEquals(Timeline.NEVER, rig.sleep(4));
        assertWord(t, REMOVED, Timeline.NEVER);
    }

    @Test
    void arm_closed_isRejected() {
        List<TimerNode> unfired = new ArrayList<>();
        queue.closer.close(unfired);
        OneShotTimer t = new OneShotTimer(queue, () -> {});
        RejectedExecutionException e = assertThrows(RejectedExecutionException.class, () -> queue.arm(t, 600));
        assertEquals("the scheduler is closed", e.getMessage());
    }

    // ---- stop ----

    private static Arguments row(String state, Function<TimerQueueTest, OneShotTimer> from) {
        Function<TimerQueueTest, OneShotTimer> checked = s -> {
            OneShotTimer t = from.apply(s);
            assertEquals(code(state), s.rig.state(t), state);
            return t;
        };
        return arguments(state, checked);
    }

    private static int code(String state) {
        try {
            return TimerNode.class.getField(state).getInt(null);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    // ---- reset ----

    @Test
    void reset_waitingSameDeadline_isModifiedLater() {
        OneShotTimer t = waiting();
        assertTrue(queue.reset(t, 600));
        assertWord(t, MODIFIED_LATER, 600);
        assertCounts(0, 1, 0);
        assertEquals(1, rig.fire(ANCHOR));
        assertEquals(0, rig.fire(599));
        assertEquals(1, rig.fire(600));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("armedStates")
    void reset_countNeedsMemoryThatThereIsNot_isDoneAndWakes(String state, Function<TimerQueueTest, OneShotTimer> from) {
        OneShotTimer t = from.apply(this);
        rig.resets.exhausted = true;
        assertThrows(OutOfMemoryError.class, () -> queue.reset(t, 400));
        assertEquals(400, TimerNode.deadline(t.wordVolatile()));
        assertEquals(1, rig.owner.wakes);
        assertEquals(1, rig.fire(400));
    }

    static Stream<Arguments> armedStates() {
        return Stream.of(row("MOVING", TimerQueueTest::moving), row("WAITING", TimerQueueTest::waiting),
                row("MODIFIED_LATER", TimerQueueTest::modifiedLater), row("MODIFIED_EARLIER", TimerQueueTest::modifiedEarlier));
    }

    /** The attempt before has linked it to what was first in the inbox then. */
    @Test
    void push_queueIsClosedMeanwhile_keepsNoOtherTimer() {
        OneShotTimer other = moving();
        OneShotTimer t = new OneShotTimer(queue, () -> {});
        InsideInbox.link(t, other);
        queue.closer.close(new ArrayList<>());
        assertSame(InsideInbox.CLOSED, InsideInbox.push(queue, t));
        assertNull(InsideInbox.link(t));
    }

    // ---- drain ----

    @Test
    void drain_equalDeadlines_keepsTheOrderOfArming() {
        List<OneShotTimer> armed = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            armed.add(rig.arm(100));
            if (i % 70 == 0) {
                rig.drain();
            }
        }
        rig.drain();
        for (OneShotTimer t : armed) {
            assertNull(InsideInbox.link(t), "a link keeps another timer alive");
            assertSame(t, rig.claim(100).node());
        }
    }

    // ---- run ----

    @Test
    void run_waitingDue_isRunning() {
        OneShotTimer t = rig.arm(100);
        Claim run = rig.claim(130);
        assertSame(t, run.node());
        assertEquals(100, run.deadline);
        assertEquals(30, run.lateness());
        assertWord(t, RUNNING, 100);
        assertEquals(1, rig.entries());
        assertEquals(30, queue.view().stats().lateness().max());
        assertCounts(0, 0, 1);
    }

    @Test
    void run_waitingNotDue_isLeft() {
        OneShotTimer t = rig.arm(100);
        assertNull(rig.claim(99));
        assertWord(t, WAITING, 100);
    }

    @Test
    void run_armedTask_isTheOneClaimed() {
        Runnable task = () -> {};
        rig.arm(100, task);
        assertSame(task, rig.claim(100).task);
    }

    @Test
    void run_periodicDue_isRunningArmedWithItsNextDeadline() {
        PeriodicTimer t = new PeriodicTimer(queue, () -> {}, 40, MissedTicks.SKIP);
        queue.arm(t, 100);
        assertNotNull(rig.claim(150));
        assertWord(t, RUNNING_ARMED, 180);
        assertEquals(1, rig.entries());
        assertCounts(0, 0, 1);
        queue.endRun(t);
        assertWord(t, MOVING, 180);
        assertCounts(0, 1, 1);
    }

    @Test
    void run_ofAnAlarm_keepsTheFiring() {
        OneShotAlarm t = new OneShotAlarm(queue);
        queue.arm(t, 100);
        assertNotNull(rig.claim(100));
        assertWord(t, NO_STATUS, 100);
        assertCounts(0, 0, 1);
    }

    @Test
    void run_modifiedLater_isWaitingUnderItsTrueKey() {
        OneShotTimer t = modifiedLater();
        assertEquals(1, rig.fire(600)); // the anchor
        assertWord(t, WAITING, 700);
        assertEquals(1, rig.entries());
        assertEquals(700, InsideHeap.topKey(queue));
        assertEquals(0, rig.fire(699));
        assertEquals(1, rig.fire(700));
    }

    // ---- run end ----

    @Test
    void endRun_runningArmedEarlierThanTheSleep_wakes() {
        OneShotTimer t = running();
        assertFalse(queue.reset(t, 400));
        assertEquals(0, rig.owner.wakes);
        queue.endRun(t);
        assertWord(t, MOVING, 400);
        assertCounts(0, 1, 1);
    }

    @Test
    void endRun_closingMeanwhile_isCollectedLate() {
        OneShotTimer t = runningArmed();
        List<TimerNode> collected = new ArrayList<>();
        queue.closer.close(collected);
        assertFalse(collected.contains(t));
        collected.clear();
        queue.endRun(t);
        assertWord(t, REMOVED, 600);
        queue.closer.collectLate(collected);
        assertEquals(List.of(t), collected);
    }

    @Test
    void endRun_closedBefore_isAtRest() {
        OneShotTimer t = runningArmed();
        List<TimerNode> collected = new ArrayList<>();
        queue.closer.close(collected);
        collected.clear();
        queue.closer.collectRunning(t, collected);
        queue.closer.collectLate(collected);
        assertEquals(List.of(t), collected);
        queue.endRun(t);
        assertWord(t, NO_STATUS, 600);
    }

    // ---- clean (top), clear deleted (sweep) ----

    @Test
    void clean_deletedTop_isRemoved() {
        use(new Rig(false));
        OneShotTimer t = rig.arm(600);
        rig.drain();
        assertTrue(queue.stop(t));
        assertNull(rig.claim(600));
        assertWord(t, REMOVED, 600);
        assertEquals(0, rig.entries());
        assertEquals(0, rig.dead());
    }

    @Test
    void clean_deletedTopNotDue_isRemovedBeforeTheSleep() {
        use(new Rig(false));
        OneShotTimer t = rig.arm(600);
        OneShotTimer live = rig.arm(800);
        rig.drain();
        assertTrue(queue.stop(t));
        assertEquals(800, rig.sleep(1));
        assertWord(t, REMOVED, 600);
        assertWord(live, WAITING, 800);
        assertEquals(0, rig.dead());
    }

    @Test
    void clean_modifiedLaterTopNotDue_sleepsUntilItsTrueKey() {
        use(new Rig(false));
        OneShotTimer t = rig.arm(600);
        rig.drain();
        assertTrue(queue.reset(t, 700));
        assertEquals(700, rig.sleep(1));
        assertWord(t, WAITING, 700);
    }

    @Test
    void sweep_liveEntries_areKept() {
        OneShotTimer waiting = waiting();
        OneShotTimer later = modifiedLater();
        rig.sweepAll();
        assertWord(waiting, WAITING, 600);
        assertWord(later, MODIFIED_LATER, 700);
        assertEquals(3, rig.entries());
        assertCounts(0, 2, 0);
    }

    /** States beside which an entry with the key 600 is dead, and what leads there. */
    static Stream<Arguments> deadEntries() {
        return Stream.of(
                row("MODIFIED_EARLIER", TimerQueueTest::modifiedEarlier),
                row("WAITING", s -> s.broughtForward(t -> {
                    s.queue.reset(t, 900);
                    s.rig.drain();
                })),
                row("DELETED_QUEUED", s -> s.broughtForward(s.queue::stop)),
                row("CANCELLED_QUEUED", s -> s.broughtForward(s.queue::cancel)),
                row("REMOVED", s -> s.broughtForward(t -> {
                    s.queue.stop(t);
                    s.rig.drain();
                })),
                row("CANCELLED", s -> {
                    OneShotTimer t = s.waiting();
                    s.queue.cancel(t);
                    return t;
                }),
                row("RUNNING", TimerQueueTest::runningBeforeItsDeadEntry),
                row("RUNNING_ARMED", s -> {
                    OneShotTimer t = s.runningBeforeItsDeadEntry();
                    s.queue.reset(t, 650);
                    return t;
                }),
                row("RUNNING_CANCELLED", s -> {
                    OneShotTimer t = s.runningBeforeItsDeadEntry();
                    s.queue.cancel(t);
                    return t;
                }),
                row("NO_STATUS", s -> {
                    OneShotTimer t = s.runningBeforeItsDeadEntry();
                    s.queue.endRun(t);
                    return t;
                }),
                row("MOVING", s -> {
                    OneShotTimer t = s.runningBeforeItsDeadEntry();
                    s.queue.endRun(t);
                    s.queue.reset(t, 650);
                    return t;
                }));
    }

    private interface Step {
        void on(OneShotTimer t);
    }

    private OneShotTimer broughtForward(Step then) {
        OneShotTimer t = modifiedEarlier();
        then.on(t);
        return t;
    }

    private OneShotTimer runningBeforeItsDeadEntry() {
        OneShotTimer t = waiting();
        queue.reset(t, 100);
        assertSame(t, rig.claim(100).node());
        return t;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("deadEntries")
    void sweep_entryThatTheStateDoesNotMatch_isDropped(String state, Function<TimerQueueTest, OneShotTimer> from) {
        OneShotTimer t = from.apply(this);
        long word = t.wordVolatile();
        int size = rig.entries();
        assertEquals(1, rig.dead());
        rig.sweepAll();
        assertEquals(word, t.wordVolatile());
        assertEquals(size - 1, rig.entries());
        assertEquals(0, rig.dead());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("deadEntries")
    void clean_topThatTheStateDoesNotMatch_isDropped(String state, Function<TimerQueueTest, OneShotTimer> from) {
        OneShotTimer t = from.apply(this);
        long word = t.wordVolatile();
        int size = rig.entries();
        Claim run = new Claim();
        Inside.lock(queue).lock();
        try {
            assertTrue(Inside.claimDue(queue, 600, run)); // the anchor
            assertFalse(Inside.claimDue(queue, 600, run));
        } finally {
            Inside.lock(queue).unlock();
        }
        assertEquals(word, t.wordVolatile());
        assertEquals(size - 2, rig.entries());
        assertEquals(0, rig.dead());
    }

    @Test
    void sweep_modifiedLaterWithALaterEntry_dropsThatOne() {
        OneShotTimer t = modifiedEarlier();
        rig.drain();
        assertTrue(queue.reset(t, 580)); // entries 550, which lives, and 600
        rig.sweepAll();
        assertWord(t, MODIFIED_LATER, 580);
        assertEquals(2, rig.entries());
        assertCounts(0, 1, 0);
    }

    // ---- move ----

    @Test
    void transfer_anotherOwner_movesNoTimerAndTakesTheWakes() {
        OneShotTimer t = waiting();
        CountingOwner next = new CountingOwner();
        rig.keepWith(next);
        assertFalse(rig.isAsleep());
        assertWord(t, WAITING, 600);
        assertEquals(DueTimers.NOT_OWNER, queue.due.prepareToSleep(rig.owner, 1));
        assertFalse(rig.isAsleep());
        assertEquals(ANCHOR, queue.due.prepareToSleep(next, 1));
        rig.arm(400);
        assertEquals(1, next.wakes);
        assertCounts(0, 2, 0);
    }

    // ---- close ----

    private void assertClosing(OneShotTimer t, boolean collected, int state) {
        List<TimerNode> unfired = new ArrayList<>();
        queue.closer.close(unfired);
        assertEquals(collected, unfired.contains(t));
        assertEquals(collected ? 2 : 1, unfired.size(), "with the anchor");
        assertEquals(state, rig.state(t));
        assertEquals(0, rig.entries());
        assertEquals(0, rig.dead());
        assertEquals(collected ? 2 : 1, queue.view().stats().get(QueueView.Count.UNFIRED));
        assertEquals(0, queue.view().pending());
        assertTrue(queue.isClosed());
    }

    @Test
    void close_runningArmed_nextFiringIsCollected() {
        OneShotTimer t = runningArmed();
        assertClosing(t, false, RUNNING_ARMED);
        List<TimerNode> unfired = new ArrayList<>();
        queue.closer.collectRunning(t, unfired);
        assertEquals(List.of(t), unfired);
        assertWord(t, RUNNING, 600);
        assertEquals(2, queue.view().stats().get(QueueView.Count.UNFIRED));
    }

    static Stream<Arguments> statesToResetAfterClose() {
        return Stream.of(row("WAITING", TimerQueueTest::waiting), row("MOVING", TimerQueueTest::moving),
                row("DELETED", TimerQueueTest::deleted), row("DELETED_QUEUED", TimerQueueTest::deletedQueued),
                row("NO_STATUS", TimerQueueTest::fired), row("RUNNING", TimerQueueTest::running));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("statesToResetAfterClose")
    void reset_closed_isRejectedAndLeavesNothingArmed(String state, Function<TimerQueueTest, OneShotTimer> from) {
        OneShotTimer t = from.apply(this);
        queue.closer.close(new ArrayList<>());
        long stopped = queue.view().stats().get(QueueView.Count.STOPPED);
        assertThrows(RejectedExecutionException.class, () -> queue.reset(t, 700));
        assertFalse(t.isPending());
        assertFalse(queue.stop(t));
        assertEquals(stopped, queue.view().stats().get(QueueView.Count.STOPPED));
        assertEquals(0, queue.view().pending());
    }

    // ---- entries are fungible ----

    /** The same deadline again, nanosecond for nanosecond: two entries match, one of them is live. */
    @Test
    void reset_forwardAndBackToTheSameDeadline_firesOnce() {
        OneShotTimer t = waiting();
        queue.reset(t, 550);
        queue.reset(t, 600);
        rig.drain();
        assertEquals(1, rig.dead());
        assertEquals(1, rig.fire(ANCHOR));
        assertEquals(1, rig.fire(10_000));
        assertEquals(0, rig.dead());
        assertEquals(0, rig.entries());
        assertWord(t, NO_STATUS, 600);
    }

    @Test
    void reset_throughTheHeapAndBackToTheSameDeadline_firesOnce() {
        OneShotTimer t = waiting();
        for (int i = 0; i < 10; i++) {
            queue.reset(t, 550);
            rig.drain();
            queue.reset(t, 600);
            queue.stop(t);
            queue.reset(t, 600);
        }
        assertEquals(2, rig.fire(10_000));
        assertEquals(0, rig.dead());
        assertEquals(0, rig.entries());
    }

    /** The entry that it left behind has the right key but the wrong place. */
    @Test
    void reset_toTheSameDeadlineInOrder_goesBehindItsEquals() {
        use(new Rig(true));
        OneShotTimer first = rig.arm(600);
        OneShotTimer second = rig.arm(600);
        rig.drain();
        queue.reset(first, 600);
        OneShotTimer third = rig.arm(600);
        rig.drain();
        queue.reset(second, 550);
        queue.reset(second, 600);
        assertSame(first, rig.claim(600).node());
        assertSame(third, rig.claim(600).node());
        assertSame(second, rig.claim(600).node());
        assertNull(rig.claim(600));
        assertEquals(0, rig.dead());
    }

    @Test
    void sweep_oneOfTwoEntriesOfAStoppedTimer_bothGo() {
        OneShotTimer t = modifiedEarlier();
        rig.drain();
        queue.stop(t);
        assertEquals(2, rig.dead());
        rig.sweepAll();
        assertEquals(0, rig.dead());
        assertEquals(1, rig.entries());
        assertWord(t, REMOVED, 550);
    }

    /** A script of go's TestAdjustTimers (issue 47762): resets to and fro must never lose a timer or hide it. */
    @Test
    void issue47762_randomResets_dueTimersFireAtOnce() {
        use(new Rig(false));
        Random rnd = new Random(47762);
        long now = 1_000;
        List<OneShotTimer> timers = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            timers.add(rig.arm(now + 1_000 + rnd.nextInt(1_000)));
        }
        for (int step = 0; step < 11; step++) {
            Collections.shuffle(timers, rnd);
            int zeroes = 0;
            for (OneShotTimer t : timers) {
                switch (rnd.nextInt(4)) {
                    case 0 -> queue.reset(t, rig.deadline(t) + 500);
                    case 1 -> queue.reset(t, Math.max(now + 100, rig.deadline(t) - 300));
                    case 2 -> queue.stop(t);
                    default -> {
                        queue.reset(t, now);
                        zeroes++;
                    }
                }
                if (rnd.nextInt(20) == 0) {
                    rig.sleep(now);
                }
            }
            assertEquals(zeroes, rig.fire(now));
            now += 50;
        }
        long armed = timers.stream().filter(OneShotTimer::isPending).count();
        assertEquals(armed, queue.view().pending());
        assertEquals(armed, rig.fire(now + 100_000));
        assertEquals(0, rig.dead());
    }

    /** The case of go's issue 47329: stopped and reset into the past again and again, all must fire. */
    @Test
    void issue47329_stopAndResetIntoThePast_allFire() {
        use(new Rig(false));
        List<OneShotTimer> timers = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            timers.add(rig.arm(1_000_000 + i));
        }
        rig.sleep(10_000);
        for (OneShotTimer t : timers) {
            for (int i = 0; i < 10; i++) {
                assertTrue(queue.stop(t));
                assertFalse(queue.reset(t, 9_000 - i));
            }
        }
        assertEquals(1, rig.owner.wakes);
        assertEquals(1_000, rig.fire(10_000));
        assertEquals(0, queue.view().pending());
        assertEquals(10_000, queue.view().stats().get(QueueView.Count.STOPPED));
        assertEquals(11_000, queue.view().stats().get(QueueView.Count.ARMED));
    }

    // ---- help, and memory that runs out ----

    @Test
    void arm_deepInbox_helpsBeforeItsOwnPush() {
        use(new Rig(false));
        for (int i = 0; i < InsideInbox.HELP_DEPTH; i++) {
            rig.arm(1_000);
        }
        assertEquals(0, rig.entries());
        OneShotTimer last = rig.arm(1_000);
        assertEquals(InsideInbox.HELP_DEPTH, rig.entries());
        assertEquals(MOVING, rig.state(last));
        assertSame(last, InsideInbox.inboxHead(queue));
        assertNull(InsideInbox.link(last));
    }

    @Test
    void arm_deepInboxButLockHeld_doesNotWait() throws InterruptedException {
        use(new Rig(false));
        Inside.lock(queue).lock();
        try {
            Thread armer = new Thread(() -> {
                for (int i = 0; i < InsideInbox.HELP_DEPTH + 10; i++) {
                    rig.arm(1_000);
                }
            });
            armer.start();
            Fixtures.join(armer);
        } finally {
            Inside.lock(queue).unlock();
        }
        assertEquals(0, rig.entries());
        assertEquals(InsideInbox.HELP_DEPTH + 10, queue.view().pending());
    }

    /** Fills the heap's arrays and takes away the memory for more. */
    private List<OneShotTimer> armAllThatFit() {
        use(new Rig(false));
        List<OneShotTimer> filed = new ArrayList<>();
        for (int i = 0; i < rig.heap.capacity(); i++) {
            filed.add(rig.arm(1_000 + i));
        }
        rig.heap.exhausted = true;
        rig.drain();
        return filed;
    }

    /** All of them are late until one that is filed fires. */
    @Test
    void drain_outOfMemoryAndDueEarlier_firesWhenAnotherHasMadeRoom() {
        List<OneShotTimer> filed = armAllThatFit();
        OneShotTimer a = rig.arm(500);
        OneShotTimer b = rig.arm(400);
        rig.drain();
        assertWord(a, MOVING, 500);
        assertWord(b, MOVING, 400);
        assertEquals(filed.size() + 2, queue.view().pending());
        assertNull(rig.claim(999));
        assertSame(filed.get(0), rig.claim(1_000).node());
        assertSame(a, rig.claim(1_000).node(), "the oldest first");
        assertSame(b, rig.claim(1_000).node());
        assertNull(rig.claim(1_000));
        assertEquals(filed.size() - 1, rig.fire(10_000));
    }

    @Test
    void drain_outOfMemoryAndDueLater_keepsTimersArmedUntilThereIsMemory() {
        List<OneShotTimer> filed = armAllThatFit();
        OneShotTimer a = rig.arm(5_000);
        OneShotTimer b = rig.arm(4_000);
        rig.drain();
        assertWord(a, MOVING, 5_000);
        assertWord(b, MOVING, 4_000);
        assertEquals(filed.size() + 2, queue.view().pending());
        rig.giveMemory();
        rig.drain();
        assertWord(a, WAITING, 5_000);
        assertWord(b, WAITING, 4_000);
        assertFalse(InsideInbox.isMemoryShort(queue));
        assertEquals(filed.size(), rig.fire(3_999));
        assertSame(b, rig.claim(10_000).node());
        assertSame(a, rig.claim(10_000).node());
    }

    /** One that is brought forward has left an entry behind, so it needs a place in memory as well. */
    @Test
    void drain_outOfMemoryAndBroughtForward_firesOnceThereIsRoom() {
        List<OneShotTimer> filed = armAllThatFit();
        OneShotTimer last = filed.get(filed.size() - 1);
        for (int i = 0; i < 5; i++) {
            assertTrue(queue.reset(last, 500 - i));
            rig.drain();
        }
        assertTrue(queue.reset(filed.get(0), 5_000));
        assertNull(rig.claim(1_000));
        assertSame(filed.get(1), rig.claim(1_001).node());
        assertSame(last, rig.claim(1_001).node());
        assertNull(rig.claim(1_001));
        assertEquals(filed.size() - 3, rig.fire(4_999));
        assertEquals(1, rig.fire(5_000));
        assertEquals(0, queue.view().pending());
        assertEquals(0, rig.dead());
    }

    /** The heap is full, and the first of those that are filed in order is put off to between two others. */
    @Test
    void claim_outOfMemoryAndPutOff_firesInTime() {
        use(new Rig(false));
        List<OneShotTimer> inOrder = new ArrayList<>();
        for (int i = 1; i <= InsideHeap.BLOCK; i++) {
            inOrder.add(rig.arm(100 * i));
        }
        rig.drain();
        assertFalse(InsideHeap.hasRoom(queue));
        assertTrue(InsideHeap.areRuns(queue));
        rig.heap.exhausted = true;
        OneShotTimer first = inOrder.get(0);
        assertTrue(queue.reset(first, 350));
        assertNull(rig.claim(199));
        assertSame(inOrder.get(1), rig.claim(299).node());
        assertNull(rig.claim(299));
        assertSame(inOrder.get(2), rig.claim(349).node());
        assertNull(rig.claim(349));
        assertSame(first, rig.claim(399).node());
        assertNull(rig.claim(399));
        verify(queue);
        assertEquals(0, rig.dead());
    }

    /** None of them has room under its true key; they must neither stop the queue nor make it try again and again to grow. */
    @Test
    void claim_outOfMemoryAndMostPutOff_othersFireInTime() {
        use(new Rig(false));
        List<OneShotTimer> inOrder = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            inOrder.add(rig.arm(1_000 + i));
        }
        OneShotTimer tick = rig.arm(2_000);
        rig.drain();
        for (int i = 0; i < InsideHeap.BLOCK - 401; i++) {
            rig.arm(900_000_000_000L + i);
        }
        rig.drain();
        assertFalse(InsideHeap.hasRoom(queue));
        assertTrue(InsideHeap.areRuns(queue));
        rig.heap.exhausted = true;
        int[] attempts = countAttempts();
        for (int i = 0; i < 399; i++) {
            assertTrue(queue.reset(inOrder.get(i), 500_000_000_000L - i));
        }
        assertSame(inOrder.get(399), rig.claim(1_500).node());
        assertSame(tick, rig.claim(2_500).node());
        assertTrue(attempts[0] <= 2, attempts[0] + " attempts to grow");
        verify(queue);
        rig.giveMemory();
        assertEquals(399, rig.fire(500_000_000_000L));
    }

    /** Each attempt to grow takes a second. */
    private int[] countAttempts() {
        int[] attempts = {0};
        rig.heap.onGrow = () -> {
            attempts[0]++;
            rig.clock.advance(Duration.ofSeconds(1));
        };
        return attempts;
    }

    /** Timers fire, so there is ample room before the heap may try to grow again; what is armed then takes all of it. */
    @Test
    void drain_roomIsBackBeforeTheNextAttempt_whatIsParkedIsNotForgotten() {
        List<OneShotTimer> filed = armAllThatFit();
        int[] attempts = countAttempts();
        OneShotTimer parked = rig.arm(5_000);
        rig.drain();
        assertTrue(InsideInbox.isMemoryShort(queue));
        assertEquals(filed.size(), rig.fire(4_000));
        rig.drain();
        assertWord(parked, WAITING, 5_000);
        assertEquals(1, attempts[0]);
        int armed = filed.size() + 500;
        for (int i = 0; i < armed; i++) {
            rig.arm(6_000 + i);
        }
        rig.drain();
        assertEquals(armed + 1, queue.view().pending());
        assertTrue(rig.entries() <= rig.heap.capacity(), "the others are parked");
        assertEquals(armed + 1, rig.fire(10_000));
    }

    @Test
    void drain_outOfMemory_attemptsToGrowAreRare() {
        List<OneShotTimer> filed = armAllThatFit();
        int[] attempts = countAttempts();
        for (int i = 0; i < 100; i++) {
            assertTrue(queue.reset(filed.get(i % filed.size()), 900));
            rig.drain();
        }
        assertEquals(1, attempts[0]);
        rig.clock.advance(Duration.ofSeconds(InsideInbox.pauseAfter(1)));
        rig.drain();
        assertEquals(2, attempts[0]);
    }

    /** By the flag that arming threads read when the inbox seems deep. */
    @Test
    void arm_outOfMemory_isRefused() {
        List<OneShotTimer> filed = armAllThatFit();
        rig.arm(5_000);
        rig.drain();
        long now = queue.timeline.now();
        RejectedExecutionException e = assertThrows(RejectedExecutionException.class, () -> rig.arm(now));
        assertTrue(e.getMessage().contains("memory is short: the heap of worker 0, which holds " + filed.size()),
                e.getMessage());
        assertTrue(queue.reset(filed.get(0), 2_000), "what is armed may be reset");
        assertTrue(queue.stop(filed.get(1)));
        assertFalse(queue.reset(filed.get(1), 3_000), "and be armed again");
        rig.giveMemory();
        rig.arm(6_000);
        rig.drain();
        assertFalse(InsideInbox.isMemoryShort(queue));
        rig.arm(6_000);
        assertEquals(filed.size() + 3, rig.fire(10_000));
    }

    @Test
    void drain_outOfMemory_stopAndResetStillWork() {
        List<OneShotTimer> filed = armAllThatFit();
        List<OneShotTimer> more = new ArrayList<>();
        Inside.lock(queue).lock();
        try { // so that none is refused
            for (int i = 0; i < 4; i++) {
                more.add(rig.arm(5_000));
            }
        } finally {
            Inside.lock(queue).unlock();
        }
        rig.drain();
        assertTrue(queue.stop(more.get(0)));
        assertTrue(queue.reset(more.get(1), 700));
        assertTrue(queue.cancel(more.get(2)));
        assertTrue(queue.stop(more.get(3)));
        assertFalse(queue.reset(more.get(3), 300));
        assertEquals(filed.size() + 2, queue.view().pending());
        rig.giveMemory();
        rig.drain();
        assertWord(more.get(0), REMOVED, 5_000);
        assertWord(more.get(2), CANCELLED, 5_000);
        assertSame(more.get(3), rig.claim(10_000).node());
        assertSame(more.get(1), rig.claim(10_000).node());
        assertEquals(filed.size(), rig.fire(10_000));
        assertEquals(3, queue.view().stats().get(QueueView.Count.STOPPED));
        assertEquals(1, queue.view().stats().get(QueueView.Count.RESETS));
    }

    /** With a manual clock each drain takes all that is parked once. */
    @Test
    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a drain that never ends hears no interrupt
    void drain_outOfMemoryAndManyParked_ends() {
        int parked = 5_000;
        use(new Rig(true));
        int fit = rig.heap.capacity();
        for (int i = 0; i < fit; i++) {
            rig.arm(2_000 - i);
        }
        rig.heap.exhausted = true;
        Inside.lock(queue).lock();
        try { // so that none is refused
            for (int i = 0; i < parked; i++) {
                rig.arm(900);
            }
            rig.arm(0);
        } finally {
            Inside.lock(queue).unlock();
        }
        int[] attempts = {0};
        rig.heap.onGrow = () -> attempts[0]++;
        rig.drain();
        rig.drain();
        assertEquals(2, attempts[0], "to grow, one a drain");
        assertEquals(fit + parked + 1, queue.view().pending());
        rig.heap.exhausted = false;
        assertEquals(fit + parked + 1, rig.fire(2_000));
        assertFalse(InsideInbox.isMemoryShort(queue));
    }

    /** A timer on its way from one place to another must not be lost with the reading. */
    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void drain_clockThrows_allTimersRun(boolean keepOrder, boolean noMemory) {
        for (int broken = 1; broken <= 12; broken++) {
            use(new Rig(keepOrder));
            int fit = rig.heap.capacity();
            for (int i = 0; i < fit; i++) {
                rig.arm(5_000 - i);
            }
            rig.drain();
            rig.heap.exhausted = noMemory;
            int[] readings = {broken};
            rig.onReading = () -> {
                if (--readings[0] == 0) {
                    throw new IllegalStateException("meant");
                }
            };
            Inside.lock(queue).lock();
            try { // so that none is refused
                for (int i = 0; i < 10; i++) {
                    rig.arm(4_000 - i);
                }
            } finally {
                Inside.lock(queue).unlock();
            }
            for (int i = 0; i < 3; i++) {
                rig.clock.advance(Duration.ofSeconds(1));
                try {
                    rig.drain();
                } catch (IllegalStateException e) {
                    assertEquals("meant", e.getMessage());
                }
            }
            rig.onReading = () -> {};
            assertTrue(readings[0] <= 0 || broken > 1, "it has not thrown");
            rig.giveMemory();
            assertEquals(fit + 10, rig.fire(10_000), "reading " + broken);
        }
    }

    @Test
    void claimStopped_parked_runs() {
        armAllThatFit();
        OneShotTimer first = rig.arm(5_000);
        OneShotTimer parked = rig.arm(5_000);
        int[] attempts = countAttempts();
        rig.drain();
        assertTrue(queue.stop(parked));
        assertTrue(queue.claimStopped(parked), "though the one before it cannot be filed");
        assertWord(first, MOVING, 5_000);
        assertEquals(1, attempts[0], "to grow");
        queue.endRun(parked);
    }

    @Test
    void drain_outOfMemory_goesOnAsFiringsMakeRoom() {
        List<OneShotTimer> filed = armAllThatFit();
        for (int i = 0; i < 10; i++) {
            rig.arm(5_000);
        }
        rig.drain();
        assertEquals(filed.size(), rig.fire(4_000));
        assertEquals(10, rig.fire(10_000));
    }

    @Test
    void sleep_outOfMemory_looksAgainSoon() {
        use(new Rig(false));
        for (int i = 0; i < rig.heap.capacity(); i++) {
            rig.arm(Timeline.NEVER);
        }
        rig.heap.exhausted = true;
        rig.drain();
        rig.arm(Timeline.NEVER);
        rig.heap.onGrow = () -> rig.clock.advance(Duration.ofNanos(1_000));
        long now = queue.timeline.now();
        assertEquals(now + 1_000 + InsideInbox.pauseAfter(1_000), rig.sleep(now));
    }

    @Test
    void close_outOfMemory_collectsTheBacklog() {
        List<OneShotTimer> filed = armAllThatFit();
        OneShotTimer t = rig.arm(5_000);
        rig.drain();
        assertWord(t, MOVING, 5_000);
        assertTrue(queue.reset(filed.get(5), 0), "so it is in the inbox");
        List<TimerNode> unfired = new ArrayList<>();
        queue.closer.close(unfired);
        assertEquals(filed.size() + 1, unfired.size());
        assertEquals(filed.size() + 1, new HashSet<>(unfired).size());
        assertTrue(unfired.containsAll(List.of(t, filed.get(5))));
        String message = assertThrows(RejectedExecutionException.class, () -> rig.arm(6_000)).getMessage();
        assertEquals("the scheduler is closed", message); // not that memory is short
    }

    /** Nothing has arrived since the last drain, so the next one has nothing to set right. */
    @Test
    void close_outOfMemoryAndAllIsDrained_isClosedAndNotShort() {
        armAllThatFit();
        rig.arm(5_000);
        rig.drain();
        queue.closer.close(new ArrayList<>());
        String message = assertThrows(RejectedExecutionException.class, () -> rig.arm(6_000)).getMessage();
        assertEquals("the scheduler is closed", message);
    }

    // ---- going to sleep ----

    /** Whoever arms between the owner's first drain and its publishing sees it awake, and wakes nobody. */
    @Test
    void prepareToSleep_armedAfterTheFirstDrain_goesRound() {
        use(new Rig(false));
        for (int i = 0; i <= rig.heap.capacity() + 1; i++) {
            rig.arm(2_000 - i);
        }
        OneShotTimer[] late = new OneShotTimer[1];
        rig.heap.onGrow = () -> {
            if (late[0] == null) {
                late[0] = rig.arm(10);
            }
        };
        assertEquals(DueTimers.RETRY, Inside.prepareToSleep(queue, 1));
        assertFalse(rig.isAsleep());
        assertEquals(0, rig.owner.wakes);
        assertEquals(10, Inside.prepareToSleep(queue, 1));
        assertWord(late[0], WAITING, 10);
    }

    @Test
    void prepareToSleep_manyDeadTops_letsOthersHaveTheLock() {
        List<OneShotTimer> timers = armMany(3 * Compactor.CLEAN_CHUNK);
        timers.forEach(queue::stop);
        rig.keepWith(rig.owner);
        assertEquals(DueTimers.RETRY, Inside.prepareToSleep(queue, 1));
        assertEquals(2 * Compactor.CLEAN_CHUNK, rig.entries());
        assertFalse(rig.isAsleep());
        assertEquals(Timeline.NEVER, rig.sleep(1));
        assertEquals(0, rig.entries());
        assertEquals(0, rig.dead());
    }

    /** What thieves go by. */
    @Test
    void nextWhen_claimsAndSleeps_tellsTheEarliestDeadline() {
        assertEquals(ANCHOR, queue.due.nextWhen());
        rig.arm(100);
        rig.arm(200);
        rig.claim(100);
        assertEquals(200, queue.due.nextWhen());
        rig.claim(200);
        assertEquals(ANCHOR, queue.due.nextWhen());
    }

    @Test
    void earliestLive_deadAndPutOffTops_looksBehindThem() {
        use(new Rig(false));
        List<OneShotTimer> stopped = new ArrayList<>();
        for (int i = 0; i < 2 * Compactor.CLEAN_CHUNK; i++) {
            stopped.add(rig.arm(100));
        }
        OneShotTimer putOff = rig.arm(200);
        rig.arm(300);
        rig.drain();
        stopped.forEach(queue::stop);
        queue.reset(putOff, 400);
        assertEquals(300, queue.due.earliestLive());
        assertEquals(2, queue.view().pending());
    }

    // ---- the bound on stale entries ----

    private List<OneShotTimer> armMany(int n) {
        use(new Rig(false));
        List<OneShotTimer> timers = new ArrayList<>(n);
        for (int i = 0; i < n; i++) {
            timers.add(rig.arm(1_000_000 + i));
        }
        rig.sleep(1);
        assertEquals(n, rig.entries());
        return timers;
    }

    /** By another thread, while the lock is held: else the stopper would sweep itself, and wake nobody. */
    private void stopWithoutLock(List<OneShotTimer> timers) throws InterruptedException {
        Inside.lock(queue).lock();
        try {
            Thread stopper = new Thread(() -> timers.forEach(queue::stop));
            stopper.start();
            Fixtures.join(stopper);
        } finally {
            Inside.lock(queue).unlock();
        }
    }

    @ParameterizedTest
    @CsvSource({"2_000, 1_024", "8_000, 2_000"})
    void stop_beyondTheBoundWithoutTheLock_wakesTheSleeper(String timers, String bound) throws InterruptedException {
        int n = Integer.parseInt(timers.replace("_", ""));
        int most = Integer.parseInt(bound.replace("_", ""));
        List<OneShotTimer> armed = armMany(n);
        stopWithoutLock(armed.subList(0, most));
        assertEquals(0, rig.owner.wakes);
        stopWithoutLock(armed.subList(most, most + InsideCompactor.CALL_EVERY));
        assertEquals(1, rig.owner.wakes);
    }

    @Test
    void stop_beyondTheBoundWithoutTheLock_wakesOncePerSleep() throws InterruptedException {
        List<OneShotTimer> timers = armMany(8_000);
        stopWithoutLock(timers.subList(0, 2_500));
        assertEquals(1, rig.owner.wakes);
        assertEquals(8_000, rig.entries());
        rig.sleep(1);
        assertTrue(rig.dead() <= 1_000, "the woken owner sweeps to half the bound");
        assertEquals(5_500, queue.view().pending());
    }

    @Test
    void stop_inAnyOrder_sweepsBeforeTheSleeperIsNeeded() {
        List<OneShotTimer> timers = armMany(8_000);
        Collections.shuffle(timers, new Random(3));
        for (int i = 0; i < timers.size(); i++) {
            queue.stop(timers.get(i));
            int bound = Math.max(Compactor.STALE_FLOOR, rig.entries() / 4);
            assertTrue(rig.dead() <= bound, rig.dead() + " dead of " + rig.entries());
        }
        assertEquals(0, rig.owner.wakes);
        assertEquals(0, queue.view().pending());
    }

    @Test
    void stop_farBeyondTheBound_sweepsSomeAndCallsTheOwner() throws InterruptedException {
        List<OneShotTimer> timers = armMany(8_000);
        stopWithoutLock(timers.subList(0, 7_001));
        assertTrue(Inside.prepareToSleep(queue, 1) > 1);
        int before = rig.owner.wakes;
        queue.stop(timers.get(7_001));
        assertTrue(rig.dead() < 7_001 - Compactor.SWEEP_CHUNK);
        assertEquals(before + 1, rig.owner.wakes);
        assertEquals(998, queue.view().pending());
    }

    @Test
    void stop_beyondHalfButLockHeld_doesNotWait() throws InterruptedException {
        List<OneShotTimer> timers = armMany(8_000);
        Inside.lock(queue).lock();
        try {
            Thread stopper = new Thread(() -> timers.forEach(queue::stop));
            stopper.start();
            Fixtures.join(stopper);
            assertEquals(8_000, rig.dead());
            assertEquals(8_000, rig.entries());
        } finally {
            Inside.lock(queue).unlock();
        }
        assertEquals(0, queue.view().pending());
    }

    static Stream<Arguments> graveyards() {
        return Stream.of(graveyard("earliest", i -> i < 4_000), graveyard("latest", i -> i >= 1_000),
                graveyard("scattered", i -> i % 5 != 0), graveyard("all", i -> true));
    }

    private interface Choice {
        boolean stops(int i);
    }

    private static Arguments graveyard(String name, Choice choice) {
        return arguments(name, choice);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("graveyards")
    void sweepStep_whereverTheDeadLie_reachesThemInChunks(String name, Choice choice) throws InterruptedException {
        List<OneShotTimer> timers = armMany(5_000);
        List<OneShotTimer> live = new ArrayList<>();
        List<OneShotTimer> stopped = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            (choice.stops(i) ? stopped : live).add(timers.get(i));
        }
        stopWithoutLock(stopped);
        boolean more = true;
        for (int steps = 0; more; steps++) {
            assertTrue(steps <= 6, "five chunks are a pass");
            int before = rig.entries();
            more = queue.compactor.sweepStep();
            assertTrue(before - rig.entries() <= Compactor.SWEEP_CHUNK);
            verify(rig.queue);
        }
        assertTrue(rig.dead() <= Compactor.STALE_FLOOR / 2);
        assertEquals(live.size(), rig.entries() - rig.dead());
        rig.sweepAll();
        for (OneShotTimer t : live) {
            assertSame(t, rig.claim(2_000_000).node());
        }
        assertEquals(0, rig.entries());
    }

    /** Of those that were armed first a few are long requests: they do not hide what is stale, nor are others moved. */
    @Test
    void sweepStep_oldestStoppedButForAFew_looksAtNoOthers() throws InterruptedException {
        use(new Rig(false));
        List<OneShotTimer> timers = new ArrayList<>();
        for (int i = 0; i < 8_000; i++) {
            timers.add(rig.arm(1_000_000 + i));
        }
        rig.sleep(1);
        List<OneShotTimer> stopped = new ArrayList<>();
        for (int i = 0; i < 4_000; i++) {
            if (i % 50 != 0) {
                stopped.add(timers.get(i));
            }
        }
        stopWithoutLock(stopped);
        int steps = 0;
        do {
            steps++;
        } while (queue.compactor.sweepStep() && steps < 100);
        assertEquals(4, steps, "more than the stale ones and a few others were looked at");
        assertTrue(rig.dead() <= 5_000 / 8, rig.dead() + " dead");
        assertTrue(InsideHeap.areRuns(queue), "what lives is no longer in order");
        verify(queue);
        assertEquals(4_080, queue.view().pending());
    }

    /** Of one block, of several, and with some parked for want of memory; the youngest block is as good as any. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1_000, 1_022, 5_000})
    void forEachPending_nothingHappens_meetsEachOnce(int n) {
        if (n == 0) {
            armAllThatFit();
            rig.arm(5_000);
        } else {
            use(new Rig(false));
            for (int i = 0; i < n; i++) {
                rig.arm(1_000_000 + i);
            }
        }
        List<TimerNode> met = new ArrayList<>();
        assertTrue(queue.view().forEachPending(met::add));
        assertEquals(queue.view().pending(), met.size());
        assertEquals(met.size(), new HashSet<>(met).size());
        int[] looks = new int[1];
        assertFalse(queue.view().forEachPending(t -> {
            assertFalse(Inside.lock(queue).isLocked(), "what looks may be the program's");
            return ++looks[0] < met.size();
        }));
        assertEquals(met.size(), looks[0]);
    }

    @Test
    void forEachPending_sweepMovesEntriesMeanwhile_findsEach() {
        use(new Rig(false));
        List<OneShotTimer> timers = new ArrayList<>();
        for (int i = 0; i < 8_000; i++) {
            timers.add(rig.arm(1_000_000 + i));
        }
        rig.sleep(1);
        for (int i = 0; i < 2_000; i += 2) {
            queue.stop(timers.get(i));
        }
        Set<TimerNode> found = Collections.newSetFromMap(new IdentityHashMap<>());
        boolean[] swept = new boolean[1];
        InsideCompactor.startFullSweep(queue);
        queue.view().forEachPending(t -> {
            found.add(t);
            if (found.size() == 1_500 && !swept[0]) {
                int before = rig.entries();
                queue.compactor.sweepStep();
                swept[0] = rig.entries() < before;
            }
            return true;
        });
        assertTrue(swept[0]);
        assertEquals(7_000, found.size());
    }

    /** The walk comes to the youngest block, and has the lock released; only then the timer goes from the oldest to that. */
    @Test
    void forEachPending_broughtForwardMeanwhile_isFound() {
        use(new Rig(false));
        List<OneShotTimer> timers = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            timers.add(rig.arm(1_000_000 + i));
        }
        rig.sleep(1);
        Set<TimerNode> found = Collections.newSetFromMap(new IdentityHashMap<>());
        OneShotTimer last = timers.get(4_999);
        queue.view().forEachPending(t -> {
            if (found.isEmpty()) {
                queue.reset(last, 500); // so its entry in the youngest block is stale, and it is in the inbox
            }
            found.add(t);
            return true;
        });
        assertTrue(found.contains(last));
        assertEquals(5_000, found.size());
    }

    /** The walk visits the last block; another thread waits for the lock, to fire most of that block and file what is parked. */
    @Test
    void forEachPending_whatIsParkedIsFiledAtItsEnd_isFound() throws InterruptedException {
        for (int round = 0; round < 100; round++) {
            use(new Rig(false));
            Fixtures.SteppedTimer filed = new Fixtures.SteppedTimer(queue);
            queue.arm(filed, 1_000);
            for (int i = 1; i < rig.heap.capacity(); i++) {
                rig.arm(1_000 + i);
            }
            rig.drain();
            rig.heap.exhausted = true;
            OneShotTimer parked = rig.arm(5_000);
            rig.drain();
            assertWord(parked, MOVING, 5_000);
            CountDownLatch tries = new CountDownLatch(1);
            Thread other = new Thread(() -> {
                tries.countDown();
                while (!Inside.lock(queue).tryLock()) { // a park, as memory is short, would miss a short release
                    Thread.onSpinWait();
                }
                try { // in one hold, so that all this comes before the walk goes on
                    rig.fire(1_000 + rig.heap.capacity() * 3 / 4);
                    rig.drain(); // into the same block, which has slots again
                } finally {
                    Inside.lock(queue).unlock();
                }
            });
            filed.stepInAfter(1, () -> {
                assertTrue(Inside.lock(queue).isHeldByCurrentThread());
                other.start();
                Fixtures.awaitTrue(() -> tries.getCount() == 0);
            });
            Set<TimerNode> found = Collections.newSetFromMap(new IdentityHashMap<>());
            queue.view().forEachPending(found::add);
            Fixtures.join(other);
            assertWord(parked, WAITING, 5_000);
            assertTrue(found.contains(parked));
            rig.giveMemory();
        }
    }

    /** The deadlines come in no order, then in order, so that there are heaps and runs. */
    @Test
    void forEachPending_entriesMoveBetweenSlices_findsEachAndLetsOthersAtTheLock() throws InterruptedException {
        use(new Rig(false));
        Set<TimerNode> timers = Collections.newSetFromMap(new IdentityHashMap<>());
        Random rnd = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            timers.add(rig.arm(i < 10_000 ? 1_000_000 + rnd.nextInt(1_000_000) : 2_000_000 + i));
        }
        rig.sleep(1);
        Set<TimerNode> found = Collections.newSetFromMap(new IdentityHashMap<>());
        CountDownLatch hadTheLock = new CountDownLatch(1);
        Thread waits = new Thread(() -> {
            Inside.lock(queue).lock();
            hadTheLock.countDown();
            Inside.lock(queue).unlock();
        });
        long[] waited = {1};
        queue.view().forEachPending(t -> {
            if (found.add(t) && found.size() % 500 == 0 && found.size() < 18_000) { // the last blocks are still to come
                timers.add(rig.arm(1_000_000 - found.size()));
                rig.drain();
            }
            if (found.size() >= 2_000 && waits.getState() == Thread.State.NEW) {
                Inside.lock(queue).lock();
                waits.start();
                Fixtures.awaitWaiting(waits);
                Inside.lock(queue).unlock();
            }
            waited[0] = hadTheLock.getCount();
            return true;
        });
        Fixtures.join(waits);
        assertEquals(timers, found);
        assertEquals(0, waited[0], "a thread that waits for the lock waits for the end of the walk");
    }

    @ParameterizedTest
    @ValueSource(ints = {3_000, 10_000, 41_200})
    void sweepStep_everythingStopped_givesMemoryBack(int n) throws InterruptedException {
        List<OneShotTimer> timers = armMany(n);
        Inside.lock(queue).lock();
        try {
            Thread stopper = new Thread(() -> timers.forEach(queue::stop));
            stopper.start();
            Fixtures.join(stopper);
        } finally {
            Inside.lock(queue).unlock();
        }
        rig.sleep(1);
        assertEquals(0, rig.entries());
        assertTrue(queue.view().stats().get(QueueView.Count.HEAP_CAPACITY) <= InsideHeap.MOST_SLOTS_KEPT,
                queue.view().stats().get(QueueView.Count.HEAP_CAPACITY) + " slots");
    }

    @Test
    void sleep_deadWithinTheBound_sweepsNothing() {
        List<OneShotTimer> timers = armMany(5_000);
        for (int i = 4_100; i < 5_000; i++) { // none at the top, where any stale entry is cleaned
            queue.stop(timers.get(i));
        }
        assertFalse(queue.compactor.wantsSweep());
        rig.sleep(1);
        assertEquals(5_000, rig.entries());
    }

    /** Garbage stays in proportion whatever is stopped, moved and armed; awake or not, someone sees to it. */
    @Test
    void storm_stopsAndResets_keepsTheHeapInProportion() {
        Random rnd = new Random(9);
        List<OneShotTimer> timers = armMany(3_000);
        long now = 1;
        for (int i = 0; i < 100_000; i++) {
            int k = rnd.nextInt(timers.size());
            OneShotTimer t = timers.get(k);
            long when = now + 1_000_000 + rnd.nextInt(1_000_000);
            switch (rnd.nextInt(3)) {
                case 0 -> queue.stop(t);
                case 1 -> queue.reset(t, when);
                default -> {
                    queue.cancel(t);
                    timers.set(k, rig.arm(when));
                }
            }
            if (!rig.isAsleep() && rnd.nextInt(500) == 0) {
                rig.sleep(now);
                long live = queue.view().pending();
                assertTrue(rig.entries() <= 2 * live + Compactor.STALE_FLOOR, "after the owner's rounds");
            }
            assertTrue(rig.dead() <= rig.entries() / 2 + Compactor.STALE_FLOOR + Compactor.SWEEP_CHUNK);
            now += 10;
        }
        assertEquals(timers.stream().filter(OneShotTimer::isPending).count(), queue.view().pending());
        timers.forEach(queue::stop);
        rig.sleep(now);
        assertEquals(0, queue.view().pending());
        assertEquals(0, rig.entries());
    }

    // ---- figures ----

    @Test
    void stats_everyOperation_balances() {
        queue.stop(waiting());
        queue.stop(moving());
        queue.cancel(modifiedEarlier());
        queue.reset(deleted(), 650);
        queue.reset(deletedQueued(), 660);
        queue.stop(runningArmed());
        queue.stop(kept());
        QueueView.Snapshot s = queue.view().stats();
        assertEquals(1 + 1 + 1 + 2 + 2 + 2 + 2 + 1, s.get(QueueView.Count.ARMED));
        assertEquals(2, s.get(QueueView.Count.FIRED));
        assertEquals(6, s.get(QueueView.Count.STOPPED), "a firing taken from its receiver had fired");
        assertEquals(1, s.get(QueueView.Count.RESETS));
        assertEquals(3, s.get(QueueView.Count.PENDING));
        assertEquals(0, s.get(QueueView.Count.UNFIRED));
        assertEquals(2, s.get(QueueView.Count.STOLEN));
    }

    /** The count's upper half holds 31 bits; what it had counted must not be lost when it is emptied. */
    @Test
    void stats_billionsOfStops_areFoldedAway() {
        long almost = (1L << 30) - 2;
        InsideCompactor.countStale(queue, almost * InsideCompactor.STOP);
        for (int i = 1; i <= 5; i++) {
            queue.stop(waiting());
            assertEquals(almost + i, queue.view().stats().get(QueueView.Count.STOPPED));
            assertEquals(i, rig.dead());
        }
        assertEquals(5, InsideCompactor.stale(queue));
        assertEquals(1, queue.view().pending());
    }

    /** A sweep may drop an entry before the thread that made it dead has counted it. */
    @Test
    void stats_entryDroppedBeforeItIsCounted_keepsTheStops() {
        queue.stop(waiting());
        InsideCompactor.countStale(queue, -2 * InsideCompactor.STALE);
        assertEquals(1, queue.view().stats().get(QueueView.Count.STOPPED));
        InsideCompactor.countStale(queue, InsideCompactor.STALE);
        assertEquals(1, queue.view().stats().get(QueueView.Count.STOPPED));
        assertEquals(0, queue.view().stats().get(QueueView.Count.STALE_ENTRIES));
    }

    // ---- limit ----

    @ParameterizedTest(name = "{0}")
    @MethodSource("statesWithoutPermit")
    void reset_noPermitLeft_isRejectedAndChangesNothing(String state, Function<TimerQueueTest, OneShotTimer> from) {
        PendingLimit limit = new PendingLimit(3);
        use(new Rig(false, limit));
        rig.arm(ANCHOR);
        sleep();
        OneShotTimer t = from.apply(this);
        long word = t.wordVolatile();
        int dead = rig.dead();
        while (limit.held() < 3) {
            rig.arm(900);
        }
        assertThrows(RejectedExecutionException.class, () -> queue.reset(t, 700));
        assertEquals(word, t.wordVolatile());
        assertEquals(3, limit.held());
        assertCounts(dead, 2, 0);
    }

    static Stream<Arguments> statesWithoutPermit() {
        return Stream.of(row("DELETED", TimerQueueTest::deleted), row("DELETED_QUEUED", TimerQueueTest::deletedQueued),
                row("NO_STATUS", TimerQueueTest::fired), row("REMOVED", TimerQueueTest::removed),
                row("RUNNING", TimerQueueTest::running));
    }
}
