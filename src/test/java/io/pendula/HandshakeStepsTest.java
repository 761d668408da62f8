package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Fixtures.SteppedTimer;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.workers.Worker;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
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

    /** A thread that has left its seat looks whether it was called; a caller that has found it there starts no other. */
    @Test
    void call_threadLeavesItsSeatMeanwhile_itSeesTheCall() {
        SchedulerEngine shared = new SchedulerEngine(builder().options.completeAsShared());
        AtomicReference<Worker> worker = new AtomicReference<>();
        AtomicBoolean hasSeen = new AtomicBoolean();
        worker.set(worker(shared, new Idle() {
            @Override
            public State getState() { // of the caller, which has read the seat and is about to unpark
                hasSeen.set(worker.get().isCalled(0));
                return State.TIMED_WAITING;
            }
        }));
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
                    && s.engine.standby.poller().asleep && s.engine.queues[0].gate.pollUntil() != WakeGate.AWAKE
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

    /** The thread that arms does not call it, so it must see the gate: its look comes after it says that it sleeps. */
    @Test
    void arm_pollerIsAboutToSayThatItSleeps_doesNotPark() {
        long origin = System.nanoTime();
        AtomicReference<Long> released = new AtomicReference<>();
        NanoClock clock = () -> released.get() == null ? origin : origin + System.nanoTime() - released.get();
        try (TimerScheduler s = builder().clock(clock).build()) {
            Sleeper poller = s.engine.standby.poller();
            TimerQueue queue = s.engine.queues[0];
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
                eventually("it has published, and waits for the monitor", () -> queue.gate.pollUntil() != WakeGate.AWAKE
                        && poller.runner().getState() == Thread.State.BLOCKED);
                s.after(Duration.ZERO, fired::countDown);
                assertFalse(poller.isCalled());
                released.set(System.nanoTime());
            }
            await(fired);
            assertEquals(0, s.stats().overdueWakes(), "it has slept until the next second");
        }
    }

    // ---- a poller that has lost its role publishes, see 3 of Standby ----

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

    /** What is armed after it has taken the gate up and before it drains: the thread that arms calls no worker. */
    @Test
    void poll_publishesAnEarlierInstantAfterItHasLostItsRole_newPollerIsCalled() throws InterruptedException {
        AtomicReference<Worker> poller = new AtomicReference<>();
        SteppedTimer far = new SteppedTimer(queue);
        far.stepInAfter(1, () -> { // the old poller drains it
            assertEquals(WakeGate.AWAKE, queue.gate.pollUntil());
            arm(5 * MS, () -> { });
            assertFalse(poller.get().isCalled());
        });
        runAsPoller(() -> {
            poller.set(takeRole());
            assertEquals(SECOND, queue.due.prepareToSleep(engine.standby, 1));
            queue.arm(far, 2 * SECOND);
        });
        assertTrue(far.isPassed());
        assertSame(old, engine.standby.guard());
        assertEquals(5 * MS, queue.gate.pollUntil());
        assertTrue(poller.get().isCalled(), "it sleeps beyond a timer that the old one has drained");
        end();
    }

    /** The same for what its last callback arms while the gate says that it is up. */
    @Test
    void publish_anEarlierInstantAfterItHasLostItsRole_newPollerIsCalled() throws InterruptedException {
        AtomicReference<Worker> poller = new AtomicReference<>();
        runAsPoller(() -> {
            poller.set(takeRole());
            arm(5 * MS, () -> { });
            assertFalse(poller.get().isCalled());
            time = 2 * MS; // so that this was the last callback of its turn
        });
        assertEquals(5 * MS, queue.gate.pollUntil());
        assertTrue(poller.get().isCalled(), "it sleeps beyond a timer that the old one has drained");
        end();
    }
}
