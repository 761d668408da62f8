package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.spin;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.TimerQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callbacks of another queue that take long, while the helper has timers of its own. */
@Timeout(60)
class BatchTest {
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
        assertTrue(isHelperCalledAgain(20_000));
    }

    /** Two threads at one lock would run fewer of them than one does. */
    @Test
    void pollerIsBehind_callbacksAreShort_helperIsNotCalledAgain() {
        assertFalse(isHelperCalledAgain(200));
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

    private static boolean isHelperCalledAgain(long callbackNanos) {
        Stepped it = new Stepped();
        Worker first = it.newGuard();
        Worker[] second = new Worker[1];
        boolean[] calledFirst = new boolean[1];
        for (int i = 0; i < BLOCKING; i++) {
            it.arm(0, "short", () -> {
                if (second[0] == null) {
                    calledFirst[0] = first.isCalled();
                    second[0] = it.newGuard();
                    second[0].sleeps(it.now + Standby.GRACE_NANOS);
                }
                it.now += callbackNanos;
            });
        }
        it.arm(0, "last", it.scheduler::shutdownNow);
        it.now += 1_000_000;
        it.run();
        assertEquals(BLOCKING + 1, it.order.size());
        assertTrue(calledFirst[0]);
        return second[0].isCalled();
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
    void helper_callbacksAreShort_goesToSleep() {
        assertTrue(isHelperSentToSleep(Worker.SHORT_NANOS, p -> {}));
    }

    @Test
    void helper_callbacksAreNotShort_staysUp() {
        assertFalse(isHelperSentToSleep(Worker.SHORT_NANOS + 1, p -> {}));
    }

    @Test
    void helper_pollerIsInOneCallback_staysUp() {
        assertFalse(isHelperSentToSleep(0, Worker::enterCallback));
    }

    /** A long wait for the lock that the helper takes again and again. */
    @Test
    void helper_pollerIsBetweenCallbacks_goesToSleep() {
        assertTrue(isHelperSentToSleep(0, p -> {
            p.enterCallback();
            p.leaveCallback();
        }));
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

    /** Whether a helper goes to sleep though timers are due, if callbacks have taken the poller so long. */
    private static boolean isHelperSentToSleep(long tookPoller, Consumer<Worker> begin) {
        Stepped it = new Stepped();
        it.other.setThread(Thread.currentThread());
        it.poller.asleep = false;
        it.poller.took = tookPoller;
        begin.accept(it.poller);
        it.poller.claimedAt = it.now;
        for (int i = 0; i < 10 * Worker.BATCH; i++) {
            it.arm(0, "short", () -> {});
        }
        boolean[] hasSlept = new boolean[1];
        it.arm(0, "last", () -> {
            hasSlept[0] = it.other.until != 0;
            it.scheduler.shutdownNow();
        });
        it.other.run();
        return hasSlept[0];
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
        private final Worker poller = engine.standby.poller();
        /** Whose home is the second queue. */
        final Worker other = engine.workerPool.workers()[1];

        private long read() {
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
