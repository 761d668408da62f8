package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.Inside;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.util.CleanThread;
import io.pendula.internal.workers.Parker;
import io.pendula.internal.workers.Worker;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A worker that keeps two queues waits for the lock of one on its way to sleep, when a thread that arms on the other
 * wakes it: that wait uses up the waker's permit.
 */
@Timeout(60)
class LastLookTest {
    /** Stops the worker at one of its readings of the clock, for as long as the test needs. */
    private static final class SteppedClock implements NanoClock {
        private volatile int readings;
        private volatile Thread worker;
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);

        @Override
        public long nanoTime() {
            if (readings > 0 && Thread.currentThread() instanceof CleanThread t) {
                worker = t;
                if (--readings == 0) {
                    reached.countDown();
                    LifeFixtures.await(goOn);
                }
            }
            return System.nanoTime();
        }
    }

    private static boolean isAsleep(TimerScheduler s) {
        for (TimerQueue q : s.engine.queues) {
            if (q.gate.lookAt() == WakeGate.AWAKE) {
                return false;
            }
        }
        return true;
    }

    /** The worker has two, though it is alone. */
    private static void addQueue(TimerScheduler s) {
        TimerQueue q = s.engine.newQueue(s.engine.queues.length, s.engine.queues[0].gate);
        q.arm(new OneShotTimer(q, () -> { }), s.engine.timeline.deadlineIn(TimeUnit.HOURS.toNanos(1)));
        synchronized (s.engine.lifecycle) {
            s.engine.queues = Engine.with(s.engine.queues, q);
        }
        s.engine.standby.queues = s.engine.queues;
        s.after(Duration.ofHours(1), () -> { });
    }

    /** At whichever reading of the clock the worker is when the lock is taken: the timer fires in time. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void arm_workerWaitsForALockOnItsWayToSleep_firesInTime(int reading) throws Exception {
        SteppedClock clock = new SteppedClock();
        try (TimerScheduler s = TimerScheduler.builder().workers(1).maxThreads(1).monitor(false).clock(clock).build()) {
            addQueue(s);
            assertEquals(2, s.engine.queues.length);
            TimerQueue other = s.engine.queues[1];
            LifeFixtures.eventually("the worker sleeps", () -> isAsleep(s));
            clock.readings = reading;
            s.after(Duration.ZERO, () -> { });
            boolean reached = clock.reached.await(reading > 4 ? 1 : LifeFixtures.LOST_SECONDS, TimeUnit.SECONDS);
            assertTrue(reached || reading > 4, "it sleeps after fewer readings");
            CountDownLatch fired = new CountDownLatch(1);
            Inside.lock(other).lock();
            try {
                clock.goOn.countDown();
                if (reached) {
                    LifeFixtures.block(5_000_000);
                    Fixtures.awaitWaiting(clock.worker); // for the lock, or it sleeps
                }
                s.after(Duration.ofMillis(1), fired::countDown);
                if (reached) {
                    LifeFixtures.block(5_000_000);
                    Fixtures.awaitWaiting(clock.worker); // for the lock again, without the permit
                }
            } finally {
                Inside.lock(other).unlock();
            }
            assertTrue(fired.await(LifeFixtures.LOST_SECONDS, TimeUnit.SECONDS), "it was slept over");
        }
    }

    /** As one does that takes a lock. */
    @Test
    void sleep_clockUsesUpThePermitAfterTheLastLook_doesNotPark() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).maxThreads(1).monitor(false).build()) {
            Worker worker = new Worker(s.engine.workerPool, s.engine.standby, null, true);
            AtomicBoolean calls = new AtomicBoolean();
            Timeline timeline = new Timeline(() -> {
                if (calls.getAndSet(false)) {
                    worker.call();
                    LockSupport.parkNanos(1); // returns at once, with the permit
                }
                return System.nanoTime();
            });
            long hour = timeline.now() + TimeUnit.HOURS.toNanos(1);
            FutureTask<Void> sleep = new FutureTask<>(() -> new Parker(timeline, false).parkUntil(hour, hour, worker), null);
            Thread thread = new Thread(sleep);
            thread.setDaemon(true);
            worker.setThread(thread);
            calls.set(true);
            thread.start();
            sleep.get(LifeFixtures.LOST_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** It has read the gate of the first queue, and publishes another, when a timer is armed in the first one. */
    @Test
    void arm_workerWaitsForTheLockOfALaterQueue_firesInTime() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).maxThreads(1).monitor(false).build()) {
            addQueue(s);
            addQueue(s);
            TimerQueue[] queues = s.engine.queues;
            // For long: what was slept over is found at the end of that sleep, and counted if it is late by then.
            LifeFixtures.eventually("the worker has begun to sleep", () -> isAsleep(s)
                    && s.engine.standby.poller().asleep && s.engine.standby.poller().until - s.now() > 700_000_000);
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            queues[2].arm(new OneShotTimer(queues[2], () -> {
                begun.countDown();
                LifeFixtures.await(goOn);
            }), s.now());
            LifeFixtures.await(begun);
            CountDownLatch fired = new CountDownLatch(1);
            Inside.lock(queues[1]).lock();
            try {
                // So that the worker publishes that queue anew, though it has passed it by in this round.
                queues[1].arm(new OneShotTimer(queues[1], () -> { }), s.now() + Duration.ofMillis(500).toNanos());
                goOn.countDown();
                Sleeper worker = s.engine.standby.poller();
                LifeFixtures.eventually("the worker waits for the lock", () -> !worker.isInCallback()
                        && worker.runner().getState() == Thread.State.WAITING);
                s.after(Duration.ofMillis(1), fired::countDown);
            } finally {
                Inside.lock(queues[1]).unlock();
            }
            assertTrue(fired.await(LifeFixtures.LOST_SECONDS, TimeUnit.SECONDS), "it was slept over");
            assertEquals(0, s.stats().overdueWakes());
        }
    }

    /** At each of its readings of the clock, which may use up the permit of the call: it reads none after it has published. */
    @Test
    void arm_whileALoopReadsTheClockBeforeItsWait_isInItsWait() {
        AtomicReference<Timer> far = new AtomicReference<>();
        AtomicLong earliest = new AtomicLong();
        int[] readings = new int[1];
        Thread reader = Thread.currentThread();
        NanoClock clock = () -> {
            if (Thread.currentThread() == reader && far.get() != null) {
                Duration delay = Duration.ofSeconds(10 - ++readings[0]); // less than the longest wait
                LoopFixtures.elsewhere(() -> far.get().reset(delay));
                earliest.set(delay.toNanos());
            }
            return System.nanoTime();
        };
        try (TimerScheduler s = TimerScheduler.builder().workers(0).clock(clock).build();
                TimerLoop loop = s.attach(() -> { })) {
            Timer last = loop.after(Duration.ofHours(1), () -> { });
            Timer[] stopped = new Timer[5_000];
            for (int i = 0; i < stopped.length; i++) {
                stopped[i] = loop.after(Duration.ofMinutes(30), () -> { }); // in front, so that there is much to clean
            }
            s.pending(); // files them
            for (Timer t : stopped) {
                t.stop();
            }
            far.set(last);
            long nanos = loop.nanosUntilNext();
            far.set(null);
            assertTrue(readings[0] > 1 && readings[0] < 10, "readings: " + readings[0]);
            assertTrue(nanos > 0 && nanos <= earliest.get(), nanos + " > " + earliest);
        }
    }
}
