package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.workers.Worker;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Steps of Standby, Worker and Seat that the search of small programs does not miss, as other steps do the same there. */
@Timeout(60)
class HandshakeStepsTest {
    private static final long MS = 1_000_000;
    private static final long SECOND = 1_000 * MS;

    /** A thread that is never started. */
    private static class Idle extends Thread {
        @Override
        public synchronized void start() {
            // The test makes its steps.
        }
    }

    private static TimerScheduler.Builder builder() {
        return TimerScheduler.builder().workers(1).maxThreads(1).monitor(false);
    }

    private static Worker worker(SchedulerEngine engine, Thread thread) {
        Worker d = new Worker(engine.workerPool, engine.standby, engine.queues[0], false);
        d.setThread(thread);
        return d;
    }

    /** A thread that has left its seat looks whether it was called. So that is said before the caller looks at the seat. */
    @Test
    void call_seatIsEmpty_callIsSeenBeforeAThreadIsMade() {
        AtomicReference<Worker> worker = new AtomicReference<>();
        AtomicBoolean hasSeen = new AtomicBoolean();
        SchedulerEngine shared = new SchedulerEngine(builder().threadFactory(body -> {
            hasSeen.set(worker.get().isCalled(0));
            Thread t = new Thread(body);
            t.setDaemon(true);
            return t;
        }).options.completeAsShared());
        worker.set((Worker) shared.workerPool.workers()[0]);
        assertTrue(worker.get().call());
        assertTrue(hasSeen.get(), "it ends, and no other thread comes in its place");
    }

    @Test
    void arm_pollerIsAboutToPark_isCalled() {
        AtomicReference<TimerScheduler> made = new AtomicReference<>();
        AtomicBoolean isStepping = new AtomicBoolean();
        AtomicBoolean isCalled = new AtomicBoolean();
        CountDownLatch stepped = new CountDownLatch(1);
        NanoClock clock = () -> {
            TimerScheduler s = made.get();
            if (s != null && Thread.currentThread() == s.engine.standby.poller().runner()
                    && s.engine.standby.poller().asleep && s.engine.queues[0].gate.lookAt() != WakeGate.AWAKE
                    && isStepping.getAndSet(false)) {
                LoopFixtures.elsewhere(() -> s.after(Duration.ZERO, () -> { }));
                isCalled.set(s.engine.standby.poller().isCalled());
                stepped.countDown();
            }
            return System.nanoTime();
        };
        try (TimerScheduler s = builder().clock(clock).build()) {
            s.after(Duration.ofHours(1), () -> { }); // so that the sleep has an end, which needs the clock
            made.set(s);
            s.after(Duration.ZERO, () -> isStepping.set(true)); // on the poller, so that nothing else is armed meanwhile
            await(stepped);
            assertTrue(isCalled.get());
        }
    }

    /** The thread that arms does not call it, so it must look at the queues after it has published. */
    @Test
    void arm_pollerIsAboutToSayThatItSleeps_doesNotPark() {
        long origin = System.nanoTime();
        AtomicReference<Long> released = new AtomicReference<>();
        NanoClock clock = () -> released.get() == null ? origin : origin + System.nanoTime() - released.get();
        try (TimerScheduler s = builder().clock(clock).build()) {
            Sleeper poller = s.engine.standby.poller();
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            CountDownLatch fired = new CountDownLatch(1);
            s.after(Duration.ofHours(1), () -> { });
            s.after(Duration.ZERO, () -> {
                begun.countDown();
                await(goOn);
            });
            await(begun);
            synchronized (s.engine.standby) {
                goOn.countDown();
                eventually("it waits for the monitor", () -> poller.runner().getState() == Thread.State.BLOCKED);
                assertEquals(WakeGate.AWAKE, s.engine.queues[0].gate.lookAt());
                s.after(Duration.ZERO, fired::countDown);
                assertFalse(poller.isCalled());
                released.set(System.nanoTime());
            }
            await(fired);
            assertEquals(0, s.stats().overdueWakes(), "it has slept until the next second");
        }
    }

    // ---- a poller that has lost its role goes on, see 4 of Standby ----

    /** Stands still, unless the test moves it. */
    private volatile long time;
    /** None of its own threads runs. */
    private final SchedulerEngine engine = builder().clock(() -> time).threadFactory(r -> new Idle()).build().engine;
    private final TimerQueue queue = engine.queues[0];
    private final Thread thread = new Thread(() -> ((Worker) engine.standby.poller()).run());
    private final Worker old = worker(engine, thread);

    private void arm(long when, Runnable task) {
        queue.arm(new OneShotTimer(queue, task), when);
    }

    /** Runs a worker until it sleeps, as the poller at first; its first callback does that. */
    private void runAsPoller(Runnable callback) {
        engine.standby.begin(old, null);
        arm(3600 * SECOND, () -> { });
        arm(1, callback);
        thread.setDaemon(true);
        thread.start();
        eventually("it sleeps", () -> old.asleep);
    }

    private Worker takeRole() {
        Worker now = worker(engine, new Idle());
        now.sleeps(SECOND);
        engine.standby.begin(now, null);
        return now;
    }

    private void end() throws InterruptedException {
        engine.shutdownNow(t -> { });
        old.call();
        Fixtures.join(thread);
    }

    /** Another worker sleeps as the poller, so what this one does must not keep a thread that arms from calling that. */
    @Test
    void poll_afterItHasLostItsRole_leavesTheGateAlone() throws InterruptedException {
        AtomicReference<Worker> poller = new AtomicReference<>();
        AtomicLong lookAt = new AtomicLong();
        runAsPoller(() -> {
            arm(1, () -> { // which it drains and claims in the same turn
                lookAt.set(queue.gate.lookAt());
                arm(5 * MS, () -> { });
            });
            poller.set(takeRole());
            queue.gate.set(SECOND);
        });
        assertEquals(SECOND, lookAt.get());
        assertTrue(poller.get().isCalled(), "it sleeps beyond a timer that is armed by now");
        assertSame(old, engine.standby.guard());
        assertEquals(WakeGate.AWAKE, queue.gate.lookAt(), "the old one has published");
        end();
    }
}
