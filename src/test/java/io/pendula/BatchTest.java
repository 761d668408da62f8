package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.spin;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.standby.Standby;
import io.pendula.internal.workers.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callbacks of another queue that take long, while the helper has timers of its own. */
@Timeout(60)
class BatchTest {
    private static final int MOST_READINGS = 1_000_000;
    private static final int BLOCKING = 40;

    private static OneShotTimer arm(TimerQueue q, Runnable task) {
        OneShotTimer t = new OneShotTimer(q, task);
        q.arm(t, q.timeline.now());
        return t;
    }

    /** Occupies the worker of the queue until the latch that it returns is let go. */
    private static CountDownLatch holdUp(TimerQueue q) {
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch held = new CountDownLatch(1);
        arm(q, () -> {
            held.countDown();
            await(release);
        });
        await(held);
        return release;
    }

    @Test
    void transferredQueue_callbacksTakeLong_otherQueueHasItsTurnAfterEach() {
        try (TimerScheduler s = TimerScheduler.builder().workers(2).maxThreads(2).build()) {
            CountDownLatch release = holdUp(s.engine.queues[0]);
            CountDownLatch later = new CountDownLatch(1);
            s.after(5, TimeUnit.MILLISECONDS, later::countDown);
            await(later); // on the other worker, which takes the role of the poller for it if it has not got it
            eventually("it sleeps as poller", () -> s.engine.standby.poller().asleep);
            List<String> order = new CopyOnWriteArrayList<>();
            Runnable task = () -> {
                order.add("transferred");
                spin(2 * Worker.BATCH_NANOS);
            };
            arm(s.engine.queues[0], () -> { // arms the others itself: they are due when it ends, however slow this thread is
                for (int i = 1; i < BLOCKING; i++) {
                    arm(s.engine.queues[0], task);
                }
                arm(s.engine.queues[1], () -> order.add("other"));
                task.run();
            });
            eventually("all ran", () -> order.size() == BLOCKING + 1);
            release.countDown();
            int turn = order.indexOf("other"); // a round may begin with the one or the other queue
            assertTrue(turn == 1 || turn == 2, () -> turn + " of " + order);
        }
    }

    /** The guard may be in a callback itself by the time that it wakes up. */
    @Test
    void guardedPoller_callbacksTakeLong_otherQueueHasItsTurn() {
        Stepped it = new Stepped();
        it.other.sleeps(Long.MAX_VALUE);
        it.arm(0, "short", () -> {}); // so that those behind it seem to be short, too
        int turn = it.turnOfOther();
        assertTrue(turn <= Worker.CLOCK_EACH, () -> turn + " of " + it.order);
    }

    @Test
    void unguardedPoller_callbacksTakeLong_otherQueueHasItsTurnAfterABatchInTime() {
        int turn = new Stepped().turnOfOther();
        assertTrue(turn <= 2, () -> "" + turn);
    }

    @Test
    void pollerIsBehind_helperHasGoneToSleepAgain_isCalledAgain() {
        assertTrue(isHelperCalledAgain(0, 20_000));
    }

    /** Two threads at one lock would run fewer of them than one does. */
    @Test
    void pollerIsBehindAtHome_callbacksAreShort_nobodyIsCalled() {
        assertFalse(isHelperCalledAgain(0, 200));
    }

    @Test
    void pollerIsBehindElsewhere_callbacksAreShort_theWorkerOfThatQueueIsCalled() {
        assertTrue(isHelperCalledAgain(1, 200));
    }

    /** A ticker is armed again within a batch, and the next callback of that may block. */
    @Test
    void callbackInABatch_guardWouldComeTooLateForWhatIsArmedSince_guardIsCalled() {
        Stepped it = new Stepped();
        TimerQueue queue = it.engine.queues[1]; // when its turn comes the other one is published
        Worker[] guard = new Worker[1];
        PeriodicTimer ticker = new PeriodicTimer(queue, () -> {
            guard[0] = it.newGuard();
            guard[0].sleeps(it.now + 100_000_000);
            it.now += 1_000_000;
        }, 2_000_000, MissedTicks.SKIP);
        queue.arm(ticker, it.engine.timeline.deadlineIn(0));
        boolean[] isCalled = new boolean[1];
        queue.arm(new OneShotTimer(queue, () -> {
            isCalled[0] = guard[0].isCalled();
            it.scheduler.shutdownNow();
        }), it.engine.timeline.deadlineIn(1_000_000));
        it.run();
        assertTrue(isCalled[0]);
    }

    /** The poller has slept for long, was not called, and comes to the other queue later. */
    @Test
    void callbackArmsForThePast_onAQueueWhoseTurnIsNext_isNotCountedAsOverdue() {
        Stepped it = new Stepped();
        it.sleepsAreShort = true;
        TimerQueue next = it.engine.queues[1];
        OneShotTimer past = new OneShotTimer(next, it.scheduler::shutdownNow);
        TimerQueue first = it.engine.queues[0];
        first.arm(new OneShotTimer(first, () -> next.arm(past, 2 * Worker.OVERDUE_NANOS)), 5 * Worker.OVERDUE_NANOS);
        it.run();
        assertEquals(0, it.scheduler.stats().overdueWakes());
    }

    /** The poller reads the clock once for several callbacks, and drains when it has read it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void callbackArmsForThePast_laterTimersAreDue_runsBeforeThem(boolean armsOnAnotherThread) {
        Stepped it = new Stepped();
        it.now = 1_000;
        it.armAt(10, "first", () -> {}); // the clock is read behind it
        it.armAt(11, "second", () -> {});
        Runnable arms = () -> it.scheduler.at(15, () -> it.order.add("armed"));
        it.armAt(12, "arms", armsOnAnotherThread ? () -> CompletableFuture.runAsync(arms).join() : arms);
        it.armAt(20, "later", () -> {});
        it.armAt(30, "last", it.scheduler::shutdownNow);
        it.run();
        assertEquals(List.of("first", "second", "arms", "armed", "later", "last"), it.order);
    }

    @Test
    void spare_hasRunForLongerThanItMayBeIdle_goesOn() throws InterruptedException {
        Stepped it = new Stepped();
        Worker spare = new Worker(it.engine.workerPool, it.engine.standby, null, true);
        spare.setThread(Thread.currentThread());
        it.engine.workerPool.knows(it.other, spare);
        it.engine.standby.begin(spare, it.other);
        it.other.setThread(new Thread());
        it.other.sleeps(Long.MAX_VALUE); // so that one gets the role, and the spare one could leave
        it.now = 1;
        it.arm(0, "long", () -> it.now += Worker.SPARE_IDLE_NANOS);
        Thread closing = new Thread(() -> {
            eventually("the spare one sleeps, and no longer as poller", () -> spare.asleep);
            for (int i = 0; i < 5; i++) { // some rounds
                spare.call();
                LockSupport.parkNanos(5_000_000);
            }
            it.scheduler.shutdownNow();
        });
        closing.start();
        spare.run();
        assertTrue(it.scheduler.isClosed());
        Fixtures.join(closing);
    }

    /** Whether one that sleeps as guard, and is at home at the second queue, is called in the middle of a backlog. */
    private static boolean isHelperCalledAgain(int queue, long callbackNanos) {
        Stepped it = new Stepped();
        it.newGuard(); // is called before the first callback, as it would sleep for too long
        boolean[] isCalled = new boolean[1];
        for (int i = 0; i < BLOCKING; i++) {
            boolean isFirst = i == 0;
            it.arm(queue, "short", () -> {
                if (isFirst) {
                    it.other.setThread(new Thread());
                    it.engine.standby.begin(it.poller, it.other);
                    it.other.sleeps(it.now + Standby.GRACE_NANOS);
                }
                it.now += callbackNanos;
                isCalled[0] = it.other.isCalled();
            });
        }
        it.arm(queue, "last", it.scheduler::shutdownNow);
        it.now += 1_000_000;
        it.run();
        assertEquals(BLOCKING + 1, it.order.size());
        return isCalled[0];
    }

    @Test
    void pollerIsALittleBehind_callbacksTakeLong_helperIsCalled() {
        assertTrue(isHelperCalledWhenALittleBehind(12_000));
    }

    /** To wake it would cost more than all of them. */
    @Test
    void pollerIsALittleBehind_callbacksAreShort_helperIsNotCalled() {
        assertFalse(isHelperCalledWhenALittleBehind(1_000));
    }

    private static boolean isHelperCalledWhenALittleBehind(long callbackNanos) {
        Stepped it = new Stepped();
        it.newGuard(); // is called before the first callback, as it would sleep for too long
        Worker[] helper = new Worker[1];
        it.arm(0, "first", () -> {
            helper[0] = it.newGuard();
            helper[0].sleeps(it.now + Standby.GRACE_NANOS);
        });
        for (int i = 0; i < 20; i++) {
            it.arm(0, "short", () -> it.now += callbackNanos);
        }
        boolean[] isCalled = new boolean[1];
        it.arm(0, "last", () -> {
            isCalled[0] = helper[0].isCalled();
            it.scheduler.shutdownNow();
        });
        it.now += 10_000;
        it.run();
        assertEquals(22, it.order.size());
        return isCalled[0];
    }

    /** Both would wait for one lock. */
    @Test
    void helper_callbacksAreShort_leavesThemToThePoller() {
        assertFalse(helps(0, Worker.LONG_NANOS, 0));
    }

    @Test
    void helper_callbacksTakeLong_runsThem() {
        assertTrue(helps(0, Worker.LONG_NANOS + 1, 0));
    }

    /** In a callback, or the system has taken its processor away. */
    @Test
    void helper_pollerHasClaimedNothingForAWhile_runsThem() {
        assertTrue(helps(0, 0, Worker.HELD_UP_NANOS + 1));
    }

    @Test
    void helper_callbacksOfItsHomeAreShort_runsThem() {
        assertTrue(helps(1, 0, 0));
    }

    /** Whether a worker that is not the poller runs what is due in a queue; the second one is its home. */
    private static boolean helps(int queue, long tookPoller, long pollerClaimedBefore) {
        Stepped it = new Stepped();
        it.now = 1_000_000;
        it.poller.setThread(new Thread());
        it.poller.asleep = false;
        it.poller.took = tookPoller;
        it.poller.claimedAt = it.engine.timeline.now() - pollerClaimedBefore;
        for (int i = 0; i < 10 * Worker.BATCH; i++) {
            it.arm(queue, "short", () -> {});
        }
        runUntilAsleep(it, it.other);
        assertTrue(it.order.isEmpty() || it.order.size() == 10 * Worker.BATCH, () -> it.order.size() + " ran");
        return !it.order.isEmpty();
    }

    /** Makes a worker's rounds on this thread, until it goes to sleep. */
    private static void runUntilAsleep(Stepped it, Worker worker) {
        worker.setThread(Thread.currentThread());
        it.closesWhenAsleep = worker;
        worker.run();
    }

    // ---- workers that are loaded ----

    /** Its home has more than a batch, and callbacks are short. */
    @Test
    void worker_hasMoreThanABatchAtHome_isLoadedUntilThatHasRun() {
        Stepped it = new Stepped();
        it.poller.setThread(new Thread());
        it.poller.asleep = false;
        List<Boolean> loaded = new ArrayList<>();
        for (int i = 0; i < 2 * Worker.BATCH; i++) {
            it.arm(1, "short", () -> loaded.add(it.other.isLoaded));
        }
        runUntilAsleep(it, it.other);
        assertFalse(loaded.get(Worker.BATCH - 1));
        assertTrue(loaded.get(Worker.BATCH));
        assertFalse(it.other.isLoaded);
    }

    @Test
    void worker_callbacksAtHomeTakeLong_isNotLoaded() {
        Stepped it = new Stepped();
        it.poller.setThread(new Thread());
        it.poller.asleep = false;
        for (int i = 0; i < 2 * Worker.BATCH; i++) {
            it.arm(1, "long", () -> {
                assertFalse(it.other.isLoaded);
                it.now += Worker.LONG_NANOS + 1;
            });
        }
        runUntilAsleep(it, it.other);
    }

    /** Each owed run is due before all that became due since, so other timers would wait for the last of them. */
    @Test
    void poller_runsAreOwed_countAsLong() {
        Stepped it = new Stepped();
        owe(it, 0, 10 * Worker.BATCH, it.scheduler::shutdownNow);
        it.run();
        assertTrue(it.poller.took > Worker.LONG_NANOS, "as long as no callback of this kind takes");
    }

    @Test
    void worker_runsAtHomeAreOwed_isNotLoaded() {
        Stepped it = new Stepped();
        it.poller.setThread(new Thread());
        it.poller.asleep = false;
        owe(it, 1, 10 * Worker.BATCH, () -> { });
        for (int i = 0; i < 5; i++) {
            it.other.help(it.engine.queues[1], it.engine.timeline.now());
            assertTrue(it.other.took > Worker.LONG_NANOS);
        }
    }

    /** A ticker that is behind by so many ticks, and whose last owed one does that. */
    private static void owe(Stepped it, int queue, int ticks, Runnable last) {
        it.now = ticks;
        TimerQueue q = it.engine.queues[queue];
        int[] ran = new int[1];
        q.arm(new PeriodicTimer(q, () -> {
            if (++ran[0] == ticks) {
                last.run();
            }
        }, 1, MissedTicks.BURST), it.engine.timeline.now() - ticks);
    }

    @Test
    void poller_otherIsLoaded_leavesItsQueueToItAndGivesItTheRole() {
        Stepped it = pollerBesideALoadedOne(0);
        assertEquals(List.of(), it.order);
        assertEquals(it.other, it.engine.standby.poller());
        assertEquals(it.poller, it.engine.standby.guard());
        assertEquals(it.engine.timeline.now() + Standby.GRACE_NANOS, it.poller.until);
    }

    /** In a callback, or the system has taken its processor away. */
    @Test
    void poller_otherIsLoadedAndHasClaimedNothingForAWhile_runsItsTimers() {
        Stepped it = pollerBesideALoadedOne(Worker.HELD_UP_NANOS + 1);
        assertEquals(List.of("due"), it.order);
    }

    /** It may have slept when the poller looks once more, and no other worker looks at its queue. */
    @Test
    void poller_otherIsNoLongerLoadedWhenItGoesToSleep_doesNotPark() {
        Stepped it = new Stepped();
        it.other.isLoaded = true;
        it.other.claimedAt = it.engine.timeline.now();
        it.arm(1, "due", () -> {});
        long next = it.engine.standby.settle(it.poller, it.engine.timeline.now(), false);
        it.other.isLoaded = false;
        assertTrue(it.engine.standby.goToSleep(it.poller, true, next, it.engine.timeline.now(), 0));
        assertEquals(it.poller, it.engine.standby.poller());
        assertTrue(it.poller.isCalled(next));
    }

    /** Another poller would give it the role, and call nobody. */
    @Test
    void poller_restOfItsBacklogIsStopped_isNotLoadedWhileItSleeps() {
        Stepped it = new Stepped();
        OneShotTimer[] last = new OneShotTimer[1];
        TimerQueue home = it.engine.queues[0];
        for (int i = 1; i < Worker.BATCH; i++) {
            it.arm(0, "short", () -> {});
        }
        it.arm(0, "stops", () -> home.stop(last[0]));
        last[0] = arm(home, () -> it.order.add("stopped"));
        home.arm(new OneShotTimer(home, () -> {}), it.engine.timeline.deadlineIn(1_000_000_000)); // for its sleep to end
        it.closesWhenAsleep = it.poller;
        it.runPoller();
        assertEquals(Worker.BATCH, it.order.size());
        assertFalse(it.poller.isLoaded);
    }

    private static Stepped pollerBesideALoadedOne(long claimedBefore) {
        Stepped it = new Stepped();
        it.now = 1_000_000;
        it.other.setThread(new Thread());
        it.other.asleep = false;
        it.other.isLoaded = true;
        it.other.claimedAt = it.engine.timeline.now() - claimedBefore;
        it.arm(1, "due", () -> {});
        TimerQueue home = it.engine.queues[0];
        home.arm(new OneShotTimer(home, () -> {}), it.engine.timeline.deadlineIn(1_000_000_000)); // for its sleep to end
        it.poller.setThread(Thread.currentThread());
        it.closesWhenAsleep = it.poller;
        it.poller.run();
        return it;
    }

    @Test
    void poller_callbacksHaveBecomeLonger_measuresItUnlessAHelperIsUp() {
        assertEquals(2_000, tookPoller(true, 500));
        assertEquals(500, tookPoller(false, 500));
    }

    @Test
    void poller_callbacksHaveBecomeShorter_measuresIt() {
        assertEquals(2_000, tookPoller(true, 4_000));
        assertEquals(2_000, tookPoller(false, 4_000));
    }

    /** What callbacks of 2 us have taken the poller, in its opinion, which was another before. */
    private static long tookPoller(boolean isHelperAsleep, long tookBefore) {
        Stepped it = new Stepped();
        it.poller.took = tookBefore;
        if (isHelperAsleep) {
            it.other.sleeps(it.now + Standby.GRACE_NANOS);
        }
        for (int i = 0; i < 2 * Worker.CLOCK_EACH; i++) {
            it.arm(0, "longer", () -> it.now += 2_000);
        }
        long[] took = new long[1];
        it.arm(0, "last", () -> {
            took[0] = it.poller.took;
            it.scheduler.shutdownNow();
        });
        it.runPoller();
        return took[0];
    }

    /** By less than counts as a pause: the timer was not due when the sleep was to end. */
    @Test
    void clockLeapsAhead_whatIsLateThen_isNotCountedAsOverdue() {
        Stepped it = new Stepped();
        it.sleepsAreShort = true;
        it.leap = 5 * Worker.OVERDUE_NANOS;
        TimerQueue q = it.engine.queues[0];
        long end = DueTimers.endOfLongestSleep(it.engine.timeline.now());
        q.arm(new OneShotTimer(q, it.scheduler::shutdownNow), end + 2 * Worker.OVERDUE_NANOS);
        it.run();
        assertEquals(0, it.scheduler.stats().overdueWakes());
    }

    /** No sleep is published for long, which is when stale entries are swept elsewhere. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void poller_somethingIsAlwaysDue_stoppedTimersAreLetGoWithinAMinute(int queue) {
        Stepped it = new Stepped();
        TimerQueue q = it.engine.queues[queue];
        List<OneShotTimer> timers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            OneShotTimer t = new OneShotTimer(q, () -> {});
            q.arm(t, it.engine.timeline.deadlineIn(TimeUnit.HOURS.toNanos(1)));
            timers.add(t);
        }
        long[] left = new long[1];
        int[] ticks = new int[1];
        PeriodicTimer always = new PeriodicTimer(it.engine.queues[0], () -> {
            it.now += 1_000_000;
            if (++ticks[0] == 2 * Worker.BATCH) { // they are filed by now
                timers.forEach(q::stop);
            }
            if (it.now >= TimeUnit.MINUTES.toNanos(1) + 1_000_000_000) {
                left[0] = it.scheduler.stats().staleEntries();
                it.scheduler.shutdownNow();
            }
        }, 1, MissedTicks.BURST);
        it.engine.queues[0].arm(always, it.engine.timeline.deadlineIn(0));
        it.runPoller();
        assertEquals(10, it.scheduler.stats().stopped());
        assertEquals(0, left[0]);
    }

    /** Two workers whose threads never start: the test's thread is the poller's, and its clock is set by hand. */
    private static final class Stepped {
        volatile long now;
        /** A sleep ends at once, when its time has passed, and the clock has leapt by this. */
        boolean sleepsAreShort;
        long leap;
        final List<String> order = new CopyOnWriteArrayList<>();
        final TimerScheduler scheduler = TimerScheduler.builder().workers(2).maxThreads(2).monitor(false)
                .clock(this::read).threadFactory(r -> new Thread(r) {
                    @Override
                    public synchronized void start() {
                        // The test makes its steps.
                    }
                }).build();
        private final SchedulerEngine engine = scheduler.engine;
        private final Worker poller = (Worker) engine.standby.poller();
        /** Whose home is the second queue. */
        final Worker other = (Worker) engine.workerPool.workers()[1];

        /** When this one is asleep the scheduler is closed, so that its rounds end. */
        Worker closesWhenAsleep;

        private int readings;

        private long read() {
            boolean isEndless = ++readings == MOST_READINGS; // as of a worker that leaves a gate open, and so never parks
            if (isEndless || closesWhenAsleep != null && closesWhenAsleep.asleep) {
                closesWhenAsleep = null;
                scheduler.shutdownNow();
            }
            if (sleepsAreShort && poller.asleep) {
                now = Math.max(now, poller.until + leap);
            }
            return now;
        }

        Worker newGuard() {
            Worker guard = new Worker(engine.workerPool, engine.standby, engine.queues[1], false);
            guard.setThread(new Thread());
            guard.sleeps(Long.MAX_VALUE);
            engine.standby.begin(poller, guard);
            return guard;
        }

        void arm(int queue, String name, Runnable task) {
            BatchTest.arm(engine.queues[queue], () -> {
                order.add(name);
                task.run();
            });
        }

        /** On the first queue. */
        void armAt(long when, String name, Runnable task) {
            engine.queues[0].arm(new OneShotTimer(engine.queues[0], () -> {
                order.add(name);
                task.run();
            }), when);
        }

        /** When a timer of the second queue runs, if those of the first take long; a number in {@code order}. */
        int turnOfOther() {
            for (int i = 1; i < BLOCKING; i++) {
                arm(0, "first", () -> now += Worker.BATCH_NANOS / 2);
            }
            arm(1, "other", scheduler::shutdownNow);
            runPoller();
            return order.indexOf("other");
        }

        /** Until a callback closes the scheduler. */
        void run() {
            engine.standby.guard().sleeps(Long.MAX_VALUE);
            runPoller();
        }

        private void runPoller() {
            poller.setThread(Thread.currentThread());
            poller.run();
        }
    }

    /** As a worker does that is up while another is held up. */
    private static void help(TimerScheduler s) {
        Worker helper = new Worker(s.engine.workerPool, s.engine.standby, null, false);
        helper.setThread(Thread.currentThread());
        helper.help(s.engine.queues[0], s.engine.timeline.now());
    }

    @Test
    void helper_callbacksTakeLong_takesOneAtATime() {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).maxThreads(1).monitor(false).build()) {
            CountDownLatch release = holdUp(s.engine.queues[0]);
            AtomicInteger ran = new AtomicInteger();
            for (int i = 0; i < BLOCKING; i++) {
                arm(s.engine.queues[0], () -> {
                    ran.incrementAndGet();
                    spin(2 * Worker.BATCH_NANOS);
                });
            }
            help(s);
            int after = ran.get();
            release.countDown();
            assertEquals(1, after);
            eventually("all ran", () -> ran.get() == BLOCKING);
        }
    }

    @Test
    void helper_callbacksAreShort_aBatchIsBoundedByItsNumberAlone() {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).maxThreads(1).monitor(false).build()) {
            CountDownLatch release = holdUp(s.engine.queues[0]);
            AtomicInteger ran = new AtomicInteger();
            int batches = 0;
            for (int attempt = 0; attempt < 50 && batches == 0; attempt++) { // a pause of the machine ends a batch, too
                for (int i = 0; i < 2 * Worker.BATCH; i++) {
                    arm(s.engine.queues[0], ran::incrementAndGet);
                }
                int before = ran.get();
                help(s);
                int helped = ran.get() - before;
                assertTrue(helped <= Worker.BATCH, () -> "helped " + helped);
                batches += helped == Worker.BATCH ? 1 : 0;
            }
            release.countDown();
            assertEquals(1, batches);
        }
    }
}
