package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.figure;
import static io.pendula.LifeFixtures.millis;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.InsideInbox;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.standby.Standby;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Wake-ups that are lost on purpose: the sleep of the poller ends within a second, and what it finds is counted. */
@Timeout(60)
@Execution(ExecutionMode.CONCURRENT)
class CappedSleepTest {
    private static final long SECOND = 1_000_000_000;
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
        /** Pushed by a thread that has an Error between the CAS of the gate and the call. */
        NO_WAKE {
            @Override
            void arm(TimerQueue q, OneShotTimer t, long when) {
                push(q, t, when);
                long p = q.gate.lookAt();
                assertTrue(p != WakeGate.AWAKE && Inside.casGate(q, p, WakeGate.AWAKE));
            }
        },
        /** Filed by a helper while the worker sleeps for longer. */
        FILED {
            @Override
            void arm(TimerQueue q, OneShotTimer t, long when) {
                push(q, t, when);
                Inside.lock(q).lock();
                try {
                    InsideInbox.drain(q);
                } finally {
                    Inside.lock(q).unlock();
                }
            }
        };

        abstract void arm(TimerQueue q, OneShotTimer t, long when);
    }

    private static void push(TimerQueue q, TimerNode t, long when) {
        InsideInbox.beginMoving(t, when);
        assertNull(InsideInbox.push(q, t));
    }

    /** Until the poller's sleep is to end in half a second or more, and the guard's not before; returns when it is. */
    private static long awaitLongSleep(SchedulerEngine e) {
        long[] until = new long[1];
        eventually("all sleep", () -> {
            Sleeper p = e.standby.poller();
            until[0] = p.until;
            return until[0] != Timeline.NEVER && until[0] > e.timeline.now() + SECOND / 2
                    && Arrays.stream(e.workerPool.workers()).allMatch(d -> d.asleep && d.until >= until[0]);
        });
        return until[0];
    }

    // A thread may be late on a busy machine, but not each time.

    @ParameterizedTest
    @CsvSource({"1, NO_LOOK", "1, NO_WAKE", "1, FILED", "2, NO_LOOK", "2, FILED", "4, NO_LOOK", "4, NO_WAKE"})
    void wakeUpLost_timerRunsWithinASecondAndIsCounted(int workers, Fault fault) throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(workers).build()) {
            s.after(FAR, () -> {});
            assertFoundInTime(s.engine, fault);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, NO_LOOK", "1, NO_WAKE", "1, FILED", "2, NO_LOOK", "2, FILED", "4, NO_LOOK", "4, FILED"})
    void pool_wakeUpLost_taskRunsWithinASecondAndIsCounted(int threads, Fault fault) throws Exception {
        SchedulerExecutor pool = started(threads);
        try {
            pool.schedule(() -> {}, 1, TimeUnit.HOURS);
            assertFoundInTime(pool.engine, fault);
        } finally {
            pool.shutdownNow();
        }
    }

    private static void assertFoundInTime(SchedulerEngine e, Fault fault) throws Exception {
        for (TimerQueue q : e.queues) { // of all but one nothing else is armed
            ContractCase.inTimeAtLeastOnce(() -> isFoundInTime(e, q, fault));
        }
    }

    private static boolean isFoundInTime(SchedulerEngine e, TimerQueue q, Fault fault) {
        long until = awaitLongSleep(e);
        CountDownLatch ran = new CountDownLatch(1);
        long before = TimerStats.of(e).overdueWakes();
        long began = System.nanoTime();
        fault.arm(q, new OneShotTimer(q, ran::countDown), until - SECOND / 2);
        await(ran);
        long took = System.nanoTime() - began;
        figure("%d queues, wake-up lost (%s): found after %.0f ms", e.queues.length, fault, millis(took));
        boolean isCounted = TimerStats.of(e).overdueWakes() == before + 1; // or a helper was quicker, back from something else
        return isCounted && took < 2 * SECOND;
    }

    /** All its threads are there. */
    private static SchedulerExecutor started(int threads) {
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(threads);
        CountDownLatch all = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            pool.execute(() -> {
                all.countDown();
                await(all);
            });
        }
        await(all);
        return pool;
    }

    @Test
    void clockLeapsAhead_whatIsLateIsNotCounted() {
        long[] ahead = new long[1];
        try (TimerScheduler s = TimerScheduler.builder().workers(1).clock(() -> {
            synchronized (ahead) {
                return System.nanoTime() + ahead[0];
            }
        }).build()) {
            s.after(FAR, () -> {});
            CountDownLatch ran = new CountDownLatch(1);
            s.after(Duration.ofMinutes(1), ran::countDown);
            awaitLongSleep(s.engine);
            synchronized (ahead) {
                ahead[0] = Duration.ofMinutes(10).toNanos();
            }
            await(ran);
            assertEquals(0, s.stats().overdueWakes(), "a leap, not a lost wake-up");
        }
    }

    /** The second timer is late by almost a spacing, and nothing was to wake the worker for it. */
    @Test
    void spacingIsLong_whatWaitsForIt_isNotCounted() {
        Duration spacing = Duration.ofMillis(400);
        try (TimerScheduler s = TimerScheduler.builder().workers(1).maxThreads(1).wakeSpacing(spacing).build()) {
            CountDownLatch ran = new CountDownLatch(2);
            s.after(Duration.ofMillis(20), ran::countDown);
            s.after(Duration.ofMillis(40), ran::countDown);
            await(ran);
            assertEquals(0, s.stats().overdueWakes());
        }
    }

    /** Once its sleep has ended by itself, a worker finds what was not there before. */
    @Test
    void armedForThePastAfterTheSleep_isNotCounted() {
        TimerQueue[] queue = new TimerQueue[1];
        CountDownLatch ran = new CountDownLatch(1);
        AtomicBoolean arms = new AtomicBoolean();
        AtomicLong ahead = new AtomicLong();
        try (TimerScheduler s = TimerScheduler.builder().workers(1).monitor(false).clock(() -> {
            long now = System.nanoTime() + ahead.get();
            if (Thread.currentThread().getName().endsWith("-worker-0") && arms.get() && isUp(queue[0])
                    && arms.compareAndSet(true, false)) {
                long past = queue[0].timeline.now() - 2 * SECOND;
                queue[0].arm(new OneShotTimer(queue[0], ran::countDown), past);
            }
            return now;
        }).build()) {
            queue[0] = s.engine.queues[0];
            ahead.set(3 * SECOND); // an instant before the start would be the start
            s.after(FAR, () -> {});
            awaitLongSleep(s.engine);
            arms.set(true);
            await(ran);
            assertEquals(0, s.stats().overdueWakes());
        }
    }

    private static boolean isUp(TimerQueue q) {
        return !((Standby) q.gate.owner()).poller().asleep;
    }

    @Test
    void pool_armedAndNotDue_twoThreadsAtMostSleepForASecond_nothingArmed_none() throws Exception {
        SchedulerExecutor pool = started(4);
        try {
            SchedulerEngine e = pool.engine;
            ScheduledFuture<?> far = pool.schedule(() -> {}, 1, TimeUnit.HOURS);
            eventually("the poller has a deadline, and the guard perhaps", () -> Set.of(1L, 2L).contains(sleepersWithADeadline(e)));
            assertTrue(far.cancel(false));
            eventually("no thread has one", () -> sleepersWithADeadline(e) == 0);
        } finally {
            pool.shutdownNow();
        }
    }

    private static long sleepersWithADeadline(SchedulerEngine e) {
        return Arrays.stream(e.workerPool.workers()).filter(d -> d.runner().getState() != Thread.State.WAITING).count();
    }
}
