package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.figure;
import static io.pendula.LifeFixtures.millis;
import static io.pendula.LifeFixtures.threadsOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import java.time.Duration;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Wake-ups that are lost on purpose, and what a look for them costs. */
@Timeout(60)
@Execution(ExecutionMode.CONCURRENT)
class BackstopTest {
    private static final long SECOND = 1_000_000_000;
    private static final long AGAIN = 100_000_000;
    private static final Duration FAR = Duration.ofHours(1);

    /** How a timer comes to a queue while its worker sleeps on. */
    enum Fault {
        /** Pushed by a thread that does not look whether it must wake the worker. */
        NO_LOOK {
            @Override
            void arm(TimerQueue q, OneShotTimer t, long when) {
                push(q, t, when);
            }
        },
        /** Pushed by a thread that has an Error between the CAS of pollUntil and the wake. */
        NO_WAKE {
            @Override
            void arm(TimerQueue q, OneShotTimer t, long when) {
                push(q, t, when);
                long p = q.gate.pollUntil();
                assertTrue(p != WakeGate.AWAKE && q.gate.casPollUntil(p, WakeGate.AWAKE));
            }
        },
        /** Filed by a helper while the worker sleeps for longer. */
        FILED {
            @Override
            void arm(TimerQueue q, OneShotTimer t, long when) {
                push(q, t, when);
                Inside.lock(q).lock();
                try {
                    Inside.drain(q);
                } finally {
                    Inside.lock(q).unlock();
                }
            }
        };

        abstract void arm(TimerQueue q, OneShotTimer t, long when);
    }

    private static void push(TimerQueue q, TimerNode t, long when) {
        Inside.beginMoving(t, when);
        assertNull(Inside.push(q, t));
    }

    private static void awaitSleep(TimerQueue q) {
        eventually("the worker sleeps", () -> q.gate.pollUntil() != WakeGate.AWAKE
                && ((SchedulerEngine) q.host).standby.poller().asleep && ((SchedulerEngine) q.host).standby.poller().isParked());
    }

    // The monitor may be late on a busy machine, but not each time.

    @ParameterizedTest
    @EnumSource
    void wakeUpLost_timerIsRescuedWithinTwoSeconds(Fault fault) throws Exception {
        ContractCase.inTimeAtLeastOnce(() -> isRescuedInTime(fault));
    }

    private static boolean isRescuedInTime(Fault fault) {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            TimerQueue q = s.engine.queues[0];
            s.after(FAR, () -> {});
            awaitSleep(q);
            CountDownLatch ran = new CountDownLatch(1);
            long due = System.nanoTime();
            fault.arm(q, new OneShotTimer(q, ran::countDown), s.engine.timeline.now());
            await(ran);
            long late = System.nanoTime() - due;
            figure("wake-up lost (%s): rescued after %.0f ms", fault, millis(late));
            assertEquals(1, s.stats().overdueWakes());
            return late < 2 * SECOND;
        }
    }

    /** Sleeps for a queue in its worker's place, and loses the first wake-up. */
    private static final class LosesOne implements QueueOwner {
        final AtomicInteger wakes = new AtomicInteger();
        private final QueueOwner worker;

        LosesOne(QueueOwner worker) {
            this.worker = worker;
        }

        @Override
        public void wake() {
            if (wakes.getAndIncrement() > 0) {
                worker.wake();
            }
        }

        @Override
        public void firstIsArmed() {
            worker.firstIsArmed();
        }
    }

    @Test
    void firstTimerOfAnIdleScheduler_wakeLost_isRescuedWithinTwoSeconds() throws Exception {
        ContractCase.inTimeAtLeastOnce(BackstopTest::isFirstTimerRescuedInTime);
    }

    private static boolean isFirstTimerRescuedInTime() {
        try (TimerScheduler s = TimerScheduler.builder().name("first").workers(1).build()) {
            TimerQueue q = s.engine.queues[0];
            awaitSleep(q);
            eventually("all are asleep for good", () -> threadsOf("first").stream()
                    .allMatch(t -> t.getState() == Thread.State.WAITING));
            LosesOne owner = new LosesOne(q.gate.owner());
            Inside.lock(q).lock();
            try {
                Inside.transfer(q, owner);
                Inside.setPollUntil(q, Timeline.NEVER);
            } finally {
                Inside.lock(q).unlock();
            }
            CountDownLatch ran = new CountDownLatch(1);
            long armed = System.nanoTime();
            s.after(Duration.ZERO, ran::countDown);
            await(ran);
            long late = System.nanoTime() - armed;
            assertTrue(owner.wakes.get() > 1);
            assertEquals(1, s.stats().overdueWakes());
            return late < 2 * SECOND;
        }
    }

    // ---- pools, where a worker that sleeps looks ----

    /** Until no thread has made a round for some time, and none is about to. */
    private static void awaitQuiet(SchedulerEngine e) {
        long[] rounds = {-1};
        eventually("all sleep for long", () -> {
            long sum = Arrays.stream(e.workerPool.workers()).mapToLong(Worker::roundsOpaque).sum();
            boolean quiet = sum == rounds[0]
                    && Arrays.stream(e.workerPool.workers()).allMatch(d -> d.asleep && d.isParked());
            rounds[0] = sum;
            LifeFixtures.block(30_000_000);
            return quiet && sum == Arrays.stream(e.workerPool.workers()).mapToLong(Worker::roundsOpaque).sum();
        });
    }

    @ParameterizedTest
    @CsvSource({"1, NO_LOOK", "1, NO_WAKE", "1, FILED", "2, NO_LOOK", "2, FILED", "4, NO_LOOK", "4, FILED"})
    void pool_wakeUpLost_taskIsRescuedWithinTwoSeconds(int threads, Fault fault) throws Exception {
        ContractCase.inTimeAtLeastOnce(() -> isTaskRescuedInTime(threads, fault));
    }

    private static boolean isTaskRescuedInTime(int threads, Fault fault) {
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(threads);
        try {
            SchedulerEngine e = pool.engine;
            CountDownLatch all = new CountDownLatch(threads);
            for (int i = 0; i < threads; i++) {
                pool.execute(() -> { // until each thread is there
                    all.countDown();
                    await(all);
                });
            }
            await(all);
            pool.schedule(() -> {}, 1, TimeUnit.HOURS);
            long latest = 0;
            for (TimerQueue q : e.queues) {
                awaitQuiet(e);
                CountDownLatch ran = new CountDownLatch(1);
                long rescues = e.stats().overdueWakes();
                long due = System.nanoTime();
                fault.arm(q, new OneShotTimer(q, ran::countDown), e.timeline.now());
                await(ran);
                long late = System.nanoTime() - due;
                figure("pool of %d, wake-up lost (%s): rescued after %.0f ms", threads, fault, millis(late));
                latest = Math.max(latest, late);
                // With one thread, by its own look; with more the end of another thread's nap may be quicker.
                assertTrue(threads > 1 || e.stats().overdueWakes() == rescues + 1, "not counted");
            }
            return latest < 2 * SECOND;
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void pool_armedAndNotDue_oneThreadLooks_nothingArmed_none() throws Exception {
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(4);
        try {
            SchedulerEngine e = pool.engine;
            CountDownLatch all = new CountDownLatch(4);
            for (int i = 0; i < 4; i++) {
                pool.execute(() -> {
                    all.countDown();
                    await(all);
                });
            }
            await(all);
            ScheduledFuture<?> far = pool.schedule(() -> {}, 1, TimeUnit.HOURS);
            eventually("one thread looks", () -> e.backstop.looks() >= 3 && sleepersWithADeadline(e) == 2);
            long looks = e.backstop.looks();
            LifeFixtures.block(2 * SECOND);
            long more = e.backstop.looks() - looks;
            assertTrue(more >= 1 && more <= 3, "looks " + more);
            assertTrue(far.cancel(false));
            eventually("no thread looks", () -> sleepersWithADeadline(e) == 0);
            looks = e.backstop.looks();
            LifeFixtures.block(2 * SECOND);
            assertEquals(looks, e.backstop.looks());
        } finally {
            pool.shutdownNow();
        }
    }

    /** Others would leave the look to it, and the callback may take long. */
    @Test
    void pool_inACallback_doesNotPromiseToLook() throws Exception {
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(1);
        try {
            pool.schedule(() -> {}, 1, TimeUnit.HOURS);
            Worker only = pool.engine.workerPool.workers()[0];
            eventually("it looks", () -> only.looksAt != Timeline.NEVER);
            assertEquals(Timeline.NEVER, pool.submit(() -> only.looksAt).get(LifeFixtures.LOST_SECONDS, TimeUnit.SECONDS));
        } finally {
            pool.shutdownNow();
        }
    }

    private static long sleepersWithADeadline(SchedulerEngine e) {
        return Arrays.stream(e.workerPool.workers()).filter(d -> d.runner().getState() != Thread.State.WAITING).count();
    }

    // ---- looks at instants of the test's choice ----

    private static TimerScheduler unwatched() {
        return TimerScheduler.builder().workers(1).monitor(false).build();
    }

    private static long fill(TimerScheduler s, int timers) {
        TimerQueue q = s.engine.queues[0];
        for (int i = 0; i < timers; i++) {
            s.after(FAR.plusMillis(i % 1000), LoopFixtures.NOTHING);
        }
        Inside.lock(q).lock();
        try {
            Inside.drain(q);
        } finally {
            Inside.lock(q).unlock();
        }
        awaitSleep(q);
        return s.engine.timeline.now();
    }

    @Test
    void look_overdueAtOneLookOnly_isNoRescue() {
        try (TimerScheduler s = unwatched()) {
            long now = fill(s, 1);
            Backstop b = new Backstop(s.engine, s.engine.standby);
            assertEquals(now + SECOND, b.look(now));
            CountDownLatch ran = new CountDownLatch(1);
            Fault.FILED.arm(s.engine.queues[0], new OneShotTimer(s.engine.queues[0], ran::countDown), now);
            assertEquals(now + SECOND, b.look(now + SECOND / 2), "too soon");
            assertEquals(now + SECOND + AGAIN, b.look(now + SECOND));
            assertEquals(0, b.rescues());
            Inside.wakeIfBefore(s.engine.queues[0], 1);
            await(ran);
            awaitSleep(s.engine.queues[0]);
            assertEquals(now + 2 * SECOND + AGAIN, b.look(now + SECOND + AGAIN));
            assertEquals(0, b.rescues());
        }
    }

    @Test
    void look_overdueByLessThanTheBound_isNotSuspicious() {
        try (TimerScheduler s = unwatched()) {
            long now = fill(s, 1);
            Backstop b = new Backstop(s.engine, s.engine.standby);
            b.look(now);
            TimerQueue q = s.engine.queues[0];
            Fault.FILED.arm(q, new OneShotTimer(q, LoopFixtures.NOTHING), now + SECOND - AGAIN);
            assertEquals(now + 2 * SECOND, b.look(now + SECOND));
        }
    }

    /** What stops all threads for long stops this one, too: the sleeper may be about to be woken by its own park. */
    @Test
    void look_secondOneMuchTooLate_beginsAnew() {
        try (TimerScheduler s = unwatched()) {
            long now = fill(s, 1);
            Backstop b = new Backstop(s.engine, s.engine.standby);
            b.look(now);
            Fault.FILED.arm(s.engine.queues[0], new OneShotTimer(s.engine.queues[0], LoopFixtures.NOTHING), now);
            b.look(now + SECOND);
            long resumed = now + 60 * SECOND;
            assertEquals(resumed + AGAIN, b.look(resumed));
            assertEquals(0, b.rescues());
            b.look(resumed + AGAIN);
            assertEquals(1, b.rescues());
        }
    }

    @Test
    void look_millionPending_visitsNoMoreThanItsBudget() {
        try (TimerScheduler s = unwatched()) {
            long now = fill(s, 1_000_000);
            for (int i = 0; i < Inside.HELP_DEPTH - 1; i++) {
                push(s.engine.queues[0], new OneShotTimer(s.engine.queues[0], LoopFixtures.NOTHING), now + 3600 * SECOND);
            }
            Backstop b = new Backstop(s.engine, s.engine.standby);
            b.look(now);
            for (int i = 1; i <= 10; i++) {
                long before = b.visited();
                assertEquals(now + (i + 1) * SECOND, b.look(now + i * SECOND));
                assertTrue(b.visited() - before <= Backstop.VISITS, () -> "visited " + (b.visited() - before));
            }
            assertEquals(0, b.rescues());
        }
    }

    /** At the bottom of an inbox that is longer than a look: each look goes on where the one before has stopped. */
    @Test
    void look_longInbox_findsTheOldestTimerInTheEnd() {
        try (TimerScheduler s = unwatched()) {
            long now = fill(s, 1);
            TimerQueue q = s.engine.queues[0];
            CountDownLatch ran = new CountDownLatch(1);
            Backstop b = new Backstop(s.engine, s.engine.standby);
            b.look(now);
            push(q, new OneShotTimer(q, ran::countDown), now);
            for (int i = 0; i < 3 * Backstop.VISITS; i++) {
                push(q, new OneShotTimer(q, LoopFixtures.NOTHING), now + 3600 * SECOND);
            }
            long next = now + SECOND;
            for (int looks = 1; b.rescues() == 0; looks++) {
                assertTrue(looks <= 5, "not found");
                next = b.look(next);
                push(q, new OneShotTimer(q, LoopFixtures.NOTHING), now + 3600 * SECOND);
            }
            await(ran);
        }
    }

    @Test
    void look_workerInACallback_isNoRescue() {
        try (TimerScheduler s = unwatched()) {
            TimerQueue q = s.engine.queues[0];
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            s.after(Duration.ZERO, () -> {
                held.countDown();
                await(release);
            });
            await(held);
            CountDownLatch ran = new CountDownLatch(1);
            s.after(Duration.ZERO, ran::countDown);
            eventually("the callback waits", () -> s.engine.standby.poller().runner().getState()
                    == Thread.State.TIMED_WAITING);
            long now = s.engine.timeline.now();
            Backstop b = new Backstop(s.engine, s.engine.standby);
            b.look(now);
            b.look(now + SECOND);
            b.look(now + SECOND + AGAIN);
            b.look(now + 3 * SECOND);
            release.countDown();
            await(ran);
            assertEquals(0, b.rescues());
        }
    }

    // ---- nothing armed ----

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void look_allStopped_noMoreLooks(boolean inInbox) {
        try (TimerScheduler s = unwatched()) {
            TimerQueue q = s.engine.queues[0];
            long now = fill(s, 1);
            Backstop b = new Backstop(s.engine, s.engine.standby);
            b.look(now);
            OneShotTimer[] all = new OneShotTimer[2 * Backstop.VISITS];
            for (int i = 0; i < all.length; i++) {
                all[i] = new OneShotTimer(q, LoopFixtures.NOTHING);
                push(q, all[i], now + 3600 * SECOND);
            }
            if (!inInbox) {
                Inside.lock(q).lock();
                try {
                    Inside.drain(q);
                } finally {
                    Inside.lock(q).unlock();
                }
            }
            q.view().forEach(t -> q.stop(t));
            for (OneShotTimer t : all) {
                q.stop(t);
            }
            awaitSleep(q); // the first stop has called it; a look takes a queue that is locked for one with timers
            long next = now + SECOND;
            for (int looks = 0; next != Timeline.NEVER; looks++) {
                assertTrue(looks <= 4, "still looks");
                next = b.look(next);
            }
            assertEquals(Timeline.NEVER, b.look(now + 100 * SECOND));
            s.after(FAR, LoopFixtures.NOTHING);
            assertEquals(now + 102 * SECOND, b.look(now + 101 * SECOND));
        }
    }

    @Test
    void armedAndNotDue_oneLookASecond_nothingArmed_none() {
        try (TimerScheduler s = TimerScheduler.builder().name("looks").workers(2).build()) {
            Timer t = s.after(FAR, LoopFixtures.NOTHING);
            long began = System.nanoTime();
            eventually("three looks", () -> s.engine.backstop.looks() >= 3);
            assertTrue(System.nanoTime() - began >= 2 * SECOND, "too often");
            assertTrue(t.stop());
            eventually("the monitor sleeps for good", () -> threadsOf("looks").stream().anyMatch(x ->
                    x.getName().endsWith("-monitor") && x.getState() == Thread.State.WAITING));
            long looks = s.engine.backstop.looks();
            LifeFixtures.block(2 * SECOND);
            assertEquals(looks, s.engine.backstop.looks());
        }
    }

    // ---- loops ----

    @Test
    void confinedLoop_timerItWasNotToldOf_isReportedAndNotRun() {
        Queue<Object> late = new ConcurrentLinkedQueue<>();
        CountDownLatch reported = new CountDownLatch(1);
        AtomicInteger hooks = new AtomicInteger();
        try (TimerScheduler s = TimerScheduler.builder().workers(1).listener(new TimerListener() {
            @Override
            public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
                late.add(timer);
                reported.countDown();
            }
        }).build(); TimerLoop loop = s.attach(hooks::incrementAndGet)) {
            s.after(FAR, LoopFixtures.NOTHING);
            TimerQueue q = s.engine.loops.of(Thread.currentThread()).queue;
            loop.nanosUntilNext();
            AtomicInteger ran = new AtomicInteger();
            OneShotTimer t = new OneShotTimer(q, ran::incrementAndGet);
            push(q, t, s.engine.timeline.now());
            await(reported);
            assertSame(t, late.peek());
            eventually("the hook is called", () -> hooks.get() == 1);
            assertEquals(0, ran.get());
            assertEquals(1, loop.runDue());
            assertEquals(1, late.size());
        }
    }

    @Test
    void withoutWorkers_orWithAManualClock_noOneLooks() {
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build()) {
            assertFalse(s.engine.backstop != null);
        }
        try (TimerScheduler s = TimerScheduler.builder().clock(new ManualClock()).build()) {
            assertFalse(s.engine.backstop != null);
        }
    }
}
