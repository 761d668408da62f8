package io.pendula;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.workers.Worker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A thread factory takes its time: no worker waits for it, nor does what is due. */
@Timeout(60)
class SlowFactoryTest {
    private static final class Hold implements Runnable {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch open = new CountDownLatch(1);

        @Override
        public void run() {
            begun.countDown();
            LifeFixtures.await(open);
        }
    }

    /** Two of three threads are there, and in callbacks. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void newThread_isSlow_whatIsSubmittedRuns(boolean failsInTheEnd) throws Exception {
        AtomicInteger made = new AtomicInteger();
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
        ThreadFactory factory = body -> {
            if (made.incrementAndGet() == 3) {
                called.countDown();
                LifeFixtures.await(answer);
                if (failsInTheEnd) {
                    return null;
                }
            }
            Thread t = new Thread(body);
            t.setUncaughtExceptionHandler((thread, e) -> uncaught.add(e));
            return t;
        };
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(3, factory);
        Hold first = new Hold();
        pool.execute(first);
        LifeFixtures.await(first.begun);
        Hold second = new Hold();
        pool.execute(second); // the second worker finds that there is no third
        LifeFixtures.await(called);
        LifeFixtures.await(second.begun);
        first.open.countDown();
        List<Future<?>> all = new ArrayList<>();
        for (int round = 0; round < 5; round++) {
            // From many threads, so that they go to every queue of the pool.
            CountDownLatch ran = new CountDownLatch(8);
            for (int i = 0; i < 8; i++) {
                Thread t = new Thread(() -> pool.execute(ran::countDown));
                t.start();
                Fixtures.join(t);
            }
            LifeFixtures.await(ran);
        }
        answer.countDown();
        second.open.countDown();
        for (int i = 0; i < 20; i++) {
            all.add(pool.submit(() -> {}));
        }
        for (Future<?> f : all) {
            f.get(Fixtures.PATIENCE_SECONDS, SECONDS);
        }
        pool.close();
        LifeFixtures.eventually("a failure is told", () -> uncaught.size() == (failsInTheEnd ? 1 : 0)); // by another thread
        assertTrue(made.get() >= 3);
        assertEquals(0, pool.engine.workerPool.workers().length);
    }

    /** What had failed is tried again by the next submission, which does not wait for the answer. */
    @Test
    void newThread_hasFailedAndIsSlowThen_submissionDoesNotWait() throws Exception {
        AtomicInteger made = new AtomicInteger();
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(3, body -> {
            int number = made.incrementAndGet();
            if (number == 3) {
                throw new OutOfMemoryError("meant");
            }
            if (number == 4) {
                called.countDown();
                LifeFixtures.await(answer);
            }
            Thread t = new Thread(body);
            t.setUncaughtExceptionHandler((thread, e) -> uncaught.add(e));
            return t;
        });
        Hold first = new Hold();
        Hold second = new Hold();
        pool.execute(first);
        LifeFixtures.await(first.begun);
        pool.execute(second);
        LifeFixtures.await(second.begun);
        LifeFixtures.eventually("the third could not be made", () -> !uncaught.isEmpty());
        Thread submits = new Thread(() -> {
            while (called.getCount() > 0) { // it is tried again after a while only
                pool.execute(() -> {});
                LifeFixtures.block(1_000_000);
            }
        });
        submits.start();
        LifeFixtures.await(called);
        Fixtures.join(submits);
        answer.countDown();
        first.open.countDown();
        second.open.countDown();
        pool.close();
    }

    /** The factory is asked for the monitor's thread, then for a spare one, and answers neither. */
    @Test
    void newThread_isSlow_guardThatTookOverRunsWhatIsDue() {
        CountDownLatch answer = new CountDownLatch(1);
        AtomicInteger made = new AtomicInteger();
        try (TimerScheduler s = TimerScheduler.builder().workers(2).threadFactory(body -> {
            if (made.incrementAndGet() > 2) {
                LifeFixtures.await(answer);
            }
            return new Thread(body);
        }).build()) {
            Hold hold = new Hold();
            s.after(Duration.ZERO, hold);
            LifeFixtures.await(hold.begun);
            CountDownLatch ticks = new CountDownLatch(20);
            s.every(Duration.ofMillis(1), ticks::countDown);
            LifeFixtures.eventually("the factory is asked", () -> made.get() > 2);
            LifeFixtures.await(ticks);
            answer.countDown();
            hold.open.countDown();
        } finally {
            answer.countDown();
        }
    }

    // ---- the shared scheduler, whose threads come and go ----

    /** Of its two workers the calling thread is the one. */
    private static SchedulerEngine shared(ThreadFactory factory) {
        SchedulerEngine e = new SchedulerEngine(TimerScheduler.builder().workers(2).threadFactory(factory).options.completeAsShared());
        ((Worker) e.workerPool.workers()[0]).setThread(Thread.currentThread());
        return e;
    }

    @Test
    void call_byAWorker_doesNotWaitForTheFactory() {
        CountDownLatch answer = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        SchedulerEngine e = shared(body -> {
            calls.incrementAndGet();
            LifeFixtures.await(answer);
            Thread t = new Thread(body);
            t.setDaemon(true);
            return t;
        });
        Sleeper other = e.workerPool.workers()[1];
        for (int i = 0; i < 10; i++) {
            assertTrue(other.call());
        }
        LifeFixtures.eventually("the factory is asked", () -> calls.get() == 1);
        assertTrue(other.call());
        answer.countDown();
        LifeFixtures.eventually("it has a thread", () -> other.runner() != null);
        assertEquals(1, calls.get());
    }

    @Test
    void arm_byAWorkerAndTheFactoryFails_theNextArmingTriesAgain() {
        AtomicInteger calls = new AtomicInteger();
        SchedulerEngine e = shared(body -> {
            if (calls.incrementAndGet() == 1) {
                throw new IllegalStateException("meant");
            }
            Thread t = new Thread(body);
            t.setDaemon(true);
            return t;
        });
        Sleeper poller = e.workerPool.workers()[1];
        e.standby.begin(poller, null);
        TimerScheduler s = new TimerScheduler(e);
        CountDownLatch ran = new CountDownLatch(2);
        s.after(Duration.ZERO, ran::countDown);
        LifeFixtures.eventually("the factory has failed", () -> calls.get() == 1
                && e.queues[0].gate.lookAt() != WakeGate.AWAKE);
        s.after(Duration.ZERO, ran::countDown);
        LifeFixtures.await(ran);
    }
}
